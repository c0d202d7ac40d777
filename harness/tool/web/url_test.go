package web

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
)

func TestAddressesHaveOneForm(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://example.com":                  "https://example.com/",
		"  HTTP://EXAMPLE.com:80/A?b=C#d\n":    "http://example.com/A?b=C",
		"https://example.com.:443":             "https://example.com/",
		"https://example.com:0443/":            "https://example.com/",
		"https://example.com:8443/":            "https://example.com:8443/",
		"http://example.com:/":                 "http://example.com/",
		"http://bücher.example/ä?ö=ü":          "http://xn--bcher-kva.example/%C3%A4?%C3%B6=%C3%BC",
		"http://xn--bcher-kva.example/":        "http://xn--bcher-kva.example/",
		"http://example。com/":                  "http://example.com/",
		"http://foo_bar.example.com/":          "http://foo_bar.example.com/",
		"http://8.8.8.8/":                      "http://8.8.8.8/",
		"http://[2606:4700::0:1]:8080/":        "http://[2606:4700::1]:8080/",
		"http://[::ffff:8.8.8.8]/":             "http://8.8.8.8/",
		"http://example.com/a%2Fb?x=%20&y=<z>": "http://example.com/a%2Fb?x=%20&y=%3Cz%3E",
		"http://example.com/?":                 "http://example.com/?",
		"http://3com.com/":                     "http://3com.com/",
		"http://1.2.3.4.example/":              "http://1.2.3.4.example/",
	} {
		u, err := parse(in)
		if err != nil {
			t.Errorf("%q: %v", in, err)
			continue
		}
		if got := u.String(); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestErrorsKeepNoPassword(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"http://ada:hunter2@example.com/", "http://ada:hunter2@exa mple.com/", "http://ada:hunter2@example.com:x/", "ftp://ada:hunter2@example.com/", "http://ada:hunter2@%zz/"} {
		_, err := parse(in)
		if !errors.Is(err, ErrURL) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"https://example.com/a?b#c", "http://[::1]:80/", "http://0x7f.1/", "http://１２７.0.0.1", "http://a@b", "http://bücher.example", "data:,x", "http://a.b.:443/%2e%2e/?\"<>`", "//x", "http://0x/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := parse(text)
		if err != nil {
			if !errors.Is(err, ErrURL) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		form := u.String()
		again, err := parse(form)
		if err != nil || again.String() != form {
			t.Errorf("%q becomes %q, and that %v, %v", text, form, again, err)
		}
		if u.User != nil || u.Fragment != "" || u.Scheme != "http" && u.Scheme != "https" {
			t.Errorf("%q becomes %#v", text, u)
		}
		for i := range len(form) {
			if form[i] <= ' ' || form[i] > '~' {
				t.Errorf("%q becomes %q", text, form)
			}
		}
		// A host that is no address must not be read as one by anybody.
		host := u.Hostname()
		if _, err := netip.ParseAddr(host); err != nil && strings.Trim(host, "0123456789.") == "" {
			t.Errorf("%q has the host %q", text, host)
		}
	})
}
