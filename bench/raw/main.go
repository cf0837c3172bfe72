// Command raw is the limit that a storage migration is measured against: it lists a custom resource page by page and
// sends one write per object, as fast as the API server takes them, and does nothing else that a migrator must do.
// It prints one JSON line: objects, failures, seconds, CPU seconds, peak resident set in MiB.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type meta struct {
	Name            string `json:"name"`
	Namespace       string `json:"namespace"`
	ResourceVersion string `json:"resourceVersion"`
}

type page struct {
	Metadata struct {
		Continue string `json:"continue"`
	} `json:"metadata"`
	Items []json.RawMessage `json:"items"`
}

type write struct {
	path string
	body []byte
}

const partialList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
const partial = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

func main() {
	server := flag.String("server", "", "base URL of the API server")
	ca := flag.String("ca", "", "file with the server's CA")
	cert := flag.String("cert", "", "file with the client certificate")
	key := flag.String("key", "", "file with the client key")
	api := flag.String("api", "", "path of the API version, such as /apis/bench.instar.dev/v1")
	plural := flag.String("plural", "", "plural of the resource")
	inFlight := flag.Int("in-flight", 32, "writes under way at once")
	limit := flag.Int("limit", 500, "objects a page")
	how := flag.String("write", "update", "update: PUT the listed bytes; patch: empty merge patch with the resourceVersion")
	flag.Parse()

	client := dial(*ca, *cert, *key, *inFlight)
	start := time.Now()
	writes := make(chan write, 4**limit)
	var objects, failures atomic.Int64
	var group sync.WaitGroup
	for range *inFlight {
		group.Add(1)
		go func() {
			defer group.Done()
			for one := range writes {
				objects.Add(1)
				if !send(client, *server, *how, one) {
					failures.Add(1)
				}
			}
		}()
	}
	list(client, *server, *api, *plural, *how, *limit, writes)
	close(writes)
	group.Wait()

	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	cpu := float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
	fmt.Printf("{\"objects\":%d,\"failures\":%d,\"seconds\":%.3f,\"cpu_seconds\":%.3f,\"rss_mib\":%.1f}\n",
		objects.Load(), failures.Load(), time.Since(start).Seconds(), cpu, float64(usage.Maxrss)/1024)
}

func dial(ca, cert, key string, inFlight int) *http.Client {
	bundle, err := os.ReadFile(ca)
	check(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	pair, err := tls.LoadX509KeyPair(cert, key)
	check(err)
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}},
		MaxIdleConnsPerHost: inFlight + 1,
		MaxIdleConns:        inFlight + 1,
	}}
}

func list(client *http.Client, server, api, plural, how string, limit int, writes chan<- write) {
	next := ""
	for {
		request, err := http.NewRequest("GET", fmt.Sprintf("%s%s/%s?limit=%d", server, api, plural, limit), nil)
		check(err)
		query := request.URL.Query()
		if next != "" {
			query.Set("continue", next)
		}
		request.URL.RawQuery = query.Encode()
		request.Header.Set("Accept", "application/json")
		if how == "patch" {
			request.Header.Set("Accept", partialList)
		}
		response, err := client.Do(request)
		check(err)
		body, err := io.ReadAll(response.Body)
		check(err)
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			check(fmt.Errorf("list: %s: %s", response.Status, body))
		}
		var one page
		check(json.Unmarshal(body, &one))
		for _, item := range one.Items {
			var head struct {
				Metadata meta `json:"metadata"`
			}
			check(json.Unmarshal(item, &head))
			path := fmt.Sprintf("%s/namespaces/%s/%s/%s", api, head.Metadata.Namespace, plural, head.Metadata.Name)
			body := []byte(item)
			if how == "patch" {
				body = fmt.Appendf(nil, `{"metadata":{"resourceVersion":%q}}`, head.Metadata.ResourceVersion)
			}
			writes <- write{path, body}
		}
		if next = one.Metadata.Continue; next == "" {
			return
		}
	}
}

func send(client *http.Client, server, how string, one write) bool {
	method, contentType := "PUT", "application/json"
	if how == "patch" {
		method, contentType = "PATCH", "application/merge-patch+json"
	}
	request, err := http.NewRequest(method, server+one.path, bytes.NewReader(one.body))
	check(err)
	request.Header.Set("Content-Type", contentType)
	request.Header.Set("Accept", partial)
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err == nil && response.StatusCode == http.StatusOK
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "raw:", err)
		os.Exit(1)
	}
}
