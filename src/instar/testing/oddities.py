"""Scalars on which conversions break: the edges of Go's numbers, odd spellings, odd characters, values of formats.

Plain data, so that what draws with Hypothesis and what draws without it draw from the same.
Source: https://pkg.go.dev/sigs.k8s.io/json
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["FLOAT32_MAX", "FORMATS", "INT32", "INT64", "INTEGERS", "KEYS", "NUMBERS", "TEXTS"]

INT64 = (-(2**63), 2**63 - 1)
INT32 = (-(2**31), 2**31 - 1)
FLOAT32_MAX = 3.4028234663852886e38
INTEGERS = (0, 1, -1, 2, 3, 9, 10, 100, 2**31 - 1, -(2**31), 2**31, 2**53 - 1, 2**53 + 1, -(2**53) - 1, *INT64)
NUMBERS = (0.1, 0.30000000000000004, 1.5, -0.5, 1e-7, 5e-324, 1e21, 1.2345678901234568e29, 2.0**63, 1.7e308, *INTEGERS)
TEXTS = (
    *("", " ", "a", "A", "b", "0", "1", "01", "1.0", "true", "null", "~", "~0", "~1", "a/b", "a.b", "[k=v]", "a=b,c=d"),
    *("1000m", "1k", "32Gi", "90m", "1h30m", "cpu=8,mem=32Gi", "small", "large", "{x}", '"', "\\", "\t\n", "\x00"),
    *("é", "e\u0301", "İ", "ß", "日本", "😀", "\u2028", "\ufeff", "carried.", "-", "x" * 64),
)
KEYS = (*("a", "b", "c", "", " ", "a/b", "a.b", "~", "~0", "~1", "[0]", "k=v", '"', "é", "日本", "0", "-", "*", "f:a"),)
FORMATS: Mapping[str, tuple[str, ...]] = {
    "byte": ("", "YQ==", "AAECAw=="),
    "cidr": ("10.0.0.0/8", "fd00::/8", "0.0.0.0/0"),
    "date": ("2024-02-29", "1970-01-01", "2000-12-31"),
    "date-time": (
        *("2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z", "2024-02-29T01:00:00+01:00", "1970-01-01T00:00:00Z"),
    ),
    "duration": ("0s", "90m", "1h30m", "1h30m0s", "1.5h", "100ms"),
    "email": ("a@example.com", "A.B@example.org"),
    "hostname": ("a", "a.example.com", "xn--bcher-kva.example"),
    "ipv4": ("0.0.0.0", "10.1.2.3", "255.255.255.255"),
    "ipv6": ("::", "::1", "2001:db8::1", "2001:0db8:0:0:0:0:0:1"),
    "mac": ("00:00:5e:00:53:01", "00-00-5E-00-53-01"),
    "uri": ("https://example.com", "https://example.com/a?b=c", "urn:a:b"),
    "uuid": ("00000000-0000-0000-0000-000000000000", "A987FBC9-4BED-3078-8F07-9141BA07C9F3"),
}
"""Values of each format that the API server checks; another format is an unchecked string."""
