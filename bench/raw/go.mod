module instar.dev/bench/raw

go 1.26
