package web

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"cairn/harness/tool/publicnet"
)

// ErrURL means that a text is no address that can be fetched.
var ErrURL = errors.New("the address cannot be fetched")

const (
	// maxURL and maxHost bound an address and the name in it, in bytes.
	maxURL  = 8_192
	maxHost = 253
)

// parse reads an address and writes it in the one form in which it is judged,
// shown, compared and fetched: an ASCII host in lower case without a dot at its
// end, no default port, no fragment. What could be read in two ways is refused.
func parse(text string) (*url.URL, error) {
	text = strings.TrimSpace(text)
	if err := readable(text); err != nil {
		return nil, err
	}
	u, err := url.Parse(text)
	if err != nil {
		// The library's error holds the text, and that may hold a password.
		return nil, fmt.Errorf("%w: it is malformed", ErrURL)
	}
	return normal(u)
}

// readable refuses texts that are no address or that look like another one.
func readable(text string) error {
	switch {
	case text == "":
		return fmt.Errorf("%w: it is empty", ErrURL)
	case len(text) > maxURL:
		return fmt.Errorf("%w: it has %d bytes, and at most %d are allowed", ErrURL, len(text), maxURL)
	case !utf8.ValidString(text):
		return fmt.Errorf("%w: it is not valid text", ErrURL)
	}
	for _, r := range text {
		if r == '\\' || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return fmt.Errorf("%w: it holds the character %q; write that with %%", ErrURL, r)
		}
	}
	return nil
}

// normal brings a parsed address into its one form.
func normal(u *url.URL) (*url.URL, error) {
	scheme := strings.ToLower(u.Scheme)
	switch {
	case scheme == "":
		return nil, fmt.Errorf("%w: it must begin with https:// or http://", ErrURL)
	case scheme != "http" && scheme != "https":
		return nil, fmt.Errorf("%w: only http and https are, not %q", ErrURL, scheme)
	case u.User != nil:
		return nil, fmt.Errorf("%w: it holds a user name or password", ErrURL)
	case u.Opaque != "":
		return nil, fmt.Errorf("%w: it must begin with %s://", ErrURL, scheme)
	}
	host, err := hostOf(u.Hostname())
	if err != nil {
		return nil, err
	}
	port, err := portOf(u.Port(), scheme)
	if err != nil {
		return nil, err
	}
	out := &url.URL{Scheme: scheme, Host: host, Path: u.Path, RawPath: u.RawPath, ForceQuery: u.ForceQuery, RawQuery: ascii(u.RawQuery)}
	if strings.Contains(host, ":") {
		out.Host = "[" + host + "]"
	}
	if port != "" {
		out.Host += ":" + port
	}
	if out.Path == "" {
		out.Path, out.RawPath = "/", ""
	}
	if len(out.String()) > maxURL {
		return nil, fmt.Errorf("%w: it is longer than %d bytes", ErrURL, maxURL)
	}
	return out, nil
}

// hostOf returns a host in its one form: an IP address, or a name in ASCII.
func hostOf(host string) (string, error) {
	if strings.Contains(host, ":") {
		addr, err := netip.ParseAddr(host)
		if err != nil || addr.Zone() != "" {
			return "", fmt.Errorf("%w: its host is no plain IPv6 address", ErrURL)
		}
		return addr.Unmap().String(), nil
	}
	// Names with "_" exist, though no host should have one.
	name, err := idna.New(idna.MapForLookup(), idna.BidiRule(), idna.StrictDomainName(false)).ToASCII(host)
	if err != nil {
		return "", fmt.Errorf("%w: its host is no valid name", ErrURL)
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if addr, err := netip.ParseAddr(name); err == nil {
		return addr.String(), nil
	}
	if err := nameable(name); err != nil {
		return "", err
	}
	return name, nil
}

// nameable refuses what is no name: also numbers, which many programs read as
// IPv4 addresses, such as 2130706433, 0x7f.1 and 0177.0.0.1.
func nameable(name string) error {
	if name == "" || len(name) > maxHost {
		return fmt.Errorf("%w: its host has no name or one that is too long", ErrURL)
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 {
			return fmt.Errorf("%w: its host is no valid name", ErrURL)
		}
		for i := range len(label) {
			if c := label[i]; c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
				return fmt.Errorf("%w: its host is no valid name", ErrURL)
			}
		}
	}
	if last := labels[len(labels)-1]; numeric(last) {
		return fmt.Errorf("%w: its host is a number; write an IPv4 address as four decimal numbers", ErrURL)
	}
	return nil
}

// numeric reports whether the last part of a host makes all of it a number.
func numeric(label string) bool {
	digits := "0123456789"
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		label, digits = hex, "0123456789abcdef"
	}
	return strings.Trim(label, digits) == ""
}

// portOf returns a port, empty if it is the scheme's own.
func portOf(port, scheme string) (string, error) {
	if port == "" {
		return "", nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return "", fmt.Errorf("%w: its port is no number from 1 to 65535", ErrURL)
	}
	if scheme == "http" && n == 80 || scheme == "https" && n == 443 {
		return "", nil
	}
	return strconv.FormatUint(n, 10), nil
}

// ascii escapes what does not belong into a query.
func ascii(query string) string {
	var b strings.Builder
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c > '~' || strings.IndexByte("\"<>`", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// allowed refuses hosts that are known to be private before anybody is asked
// about them. Names are looked up, and their addresses judged, when they are
// dialled.
func allowed(u *url.URL) error {
	host := u.Hostname()
	if addr, err := netip.ParseAddr(host); err == nil {
		return publicnet.Check(addr)
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return fmt.Errorf("%s %w", host, publicnet.ErrPrivate)
	}
	return nil
}

// follows reports whether a redirect stays where it was agreed to go: the same
// host, with or without "www.", and never from https back to http.
func follows(from, to *url.URL) bool {
	bare := func(u *url.URL) string { return strings.TrimPrefix(u.Hostname(), "www.") }
	if bare(from) != bare(to) || from.Scheme == "https" && to.Scheme == "http" {
		return false
	}
	return from.Port() == to.Port()
}
