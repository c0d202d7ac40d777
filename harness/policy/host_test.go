package policy

import (
	"strings"
	"testing"

	"cairn/harness/tool"
)

func fetch(url string) tool.Tool {
	return touching("fetch_url", tool.Access{Kind: tool.AccessFetch, URL: url})
}

func TestHosts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ rule, allowed, asks string }{
		{
			"example.com", "https://example.com http://example.com/x?y#z https://EXAMPLE.com/ https://example.com./ https://example.com:443/ http://example.com:80",
			"https://www.example.com https://example.com.evil.org https://evilexample.com https://example.com@evil.org https://evil.org#example.com https://evil.org/example.com https://evil.org?example.com " +
				`https://evil.org\@example.com https://example.com\.evil.org https://user@example.com https://:x@example.com https://example.com:8080 http://example.com:443 ftp://example.com file://example.com/x javascript://example.com ` +
				"//example.com example.com https:example.com https:///example.com https://example.com%2eevil.org https://example.com%00.evil.org https://example.com: data:,https://example.com https://еxample.com https://example.com:99999999 https://[example.com]",
		},
		{"*.example.com", "https://www.example.com https://a.b.example.com", "https://example.com https://xexample.com https://www.example.com.evil.org https://.example.com"},
		{"*", "https://example.com https://127.0.0.1:8080/x", "ftp://example.com https://u:p@example.com"},
		{"Example.COM.", "https://example.com", "https://example.org"},
		{"bücher.example", "https://bücher.example https://xn--bcher-kva.example https://BÜCHER.example", "https://bucher.example"},
		{"xn--bcher-kva.example", "https://bücher.example", "https://bucher.example"},
		{"example.com:8443", "https://example.com:8443 http://example.com:8443/", "https://example.com https://example.com:84431"},
		{"example.com:443", "https://example.com https://example.com:443", "http://example.com https://example.com:444"},
		{"https://example.com", "https://example.com https://example.com/x", "http://example.com https://example.com:444 http://example.com:443"},
		{"http://example.com:8080/a", "http://example.com:8080/a http://example.com:8080/a/b", "https://example.com:8080/a http://example.com/a http://example.com:8080/ab"},
		{
			"https://example.com/docs", "https://example.com/docs https://example.com/docs/ https://example.com/docs/a?q=/../x https://example.com/docs#x",
			"https://example.com https://example.com/ https://example.com/docsx https://example.com/Docs https://example.com/x/docs https://example.com/docs/../x https://example.com/docs/%2e%2e/x https://example.com/docs/..%2fx https://example.com/docs//x https://example.com/docs/;x/.. https://example.com/docs/%5c..%5cx https://example.com/docs/./x",
		},
		{"https://example.com/docs/", "https://example.com/docs https://example.com/docs/a", "https://example.com/docsa"},
		{"https://*.example.com/a", "https://x.example.com/a/b", "https://example.com/a https://x.example.com/b"},
		{"=https://example.com/a?b=c", "https://example.com/a?b=c https://EXAMPLE.com:443/a?b=c", "https://example.com/a https://example.com/a?b=cd https://example.com/a/?b=c"},
		{"127.0.0.1", "http://127.0.0.1", "http://2130706433 http://0x7f.1 http://127.1 http://127.0.0.1:8080 http://0177.0.0.1 http://127.0.0.1.nip.io"},
		{"[::1]", "http://[::1] http://[0:0:0:0:0:0:0:1]/x", "http://[::2] http://[::1]:8080 http://[::1%25lo]"},
		{"[::1]:8080", "http://[::1]:8080/x", "http://[::1]"},
		{"*.0.0.1", "", "http://127.0.0.1"},
		{"example.com/docs", "", "https://example.com/docs https://example.com"},
		{"ex*mple.com", "", "https://example.com"},
		{"https://example.com/a/../b", "", "https://example.com/b https://example.com/a"},
		{"https://example.com/a?b", "", "https://example.com/a?b"},
		{"https://u@example.com", "", "https://example.com https://u@example.com"},
		{"ftp://example.com", "", "ftp://example.com https://example.com"},
		{"https://", "", "https://example.com"},
	} {
		r := Rules{Allow: rules(t, "fetch_url("+tc.rule+")"), Interactive: true}
		check := func(urls string, want tool.Permission) {
			for u := range strings.FieldsSeq(urls) {
				if v := judge(t, r, tool.Call{}, fetch(u)); v.Permission != want {
					t.Errorf("rule %s: %s: got %+v, want %s", tc.rule, u, v, want)
				}
			}
		}
		check(tc.allowed, tool.Allow)
		check(tc.asks, tool.Ask)
	}
}

func TestDeniedHosts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ rule, denied, allowed, asks string }{
		{"example.com", "https://example.com http://example.com:8080/x https://EXAMPLE.com.", "https://www.example.com https://example.org", "https://x@example.com ftp://example.com"},
		{"*.example.com", "https://a.example.com:1/x", "https://example.com", ""},
		{"example.com:8080", "https://example.com:8080", "https://example.com", ""},
		{"https://example.com/docs", "https://example.com/docs/a http://example.com/docs https://example.com/x/../docs https://example.com/x/%2e%2e%2fdocs", "https://example.com/doc", "https://example.com/docs/%2e%2e/x"},
		{"127.0.0.1", "http://127.0.0.1:99", "http://127.0.0.2", "http://2130706433 http://0x7f.1"},
		{"*", "https://example.com ftp://example.com", "", ""},
		{"example.com/docs", "", "", "https://example.com https://example.org"},
	} {
		r := Rules{Allow: rules(t, "fetch_url"), Deny: rules(t, "fetch_url("+tc.rule+")"), Interactive: true}
		check := func(urls string, want tool.Permission) {
			for u := range strings.FieldsSeq(urls) {
				if v := judge(t, r, tool.Call{}, fetch(u)); v.Permission != want {
					t.Errorf("deny %s: %s: got %+v, want %s", tc.rule, u, v, want)
				}
			}
		}
		check(tc.denied, tool.Deny)
		check(tc.allowed, tool.Allow)
		check(tc.asks, tool.Ask)
	}
}
