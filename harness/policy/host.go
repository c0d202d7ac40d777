package policy

import (
	"net"
	"net/url"
	"path"
	"regexp"
	"strings"

	"golang.org/x/net/idna"
)

// address is a URL as rules compare it.
type address struct {
	scheme, host, port string
	// path is decoded and without dots; odd says that it was not written so.
	path string
	odd  bool
	// given says that the address names its port.
	given bool
	// full is the whole of it, normalised.
	full string
}

// parseAddress reads a URL that rules may allow; false for everything else:
// another scheme, a name or password in it, a host that is no host.
func parseAddress(text string) (address, bool) {
	if _, hidden := strange(text); hidden || strings.ContainsAny(text, "\\ ") {
		return address{}, false
	}
	u, err := url.Parse(text)
	if err != nil || u.User != nil || u.Opaque != "" || u.Scheme != "https" && u.Scheme != "http" {
		return address{}, false
	}
	a := address{scheme: u.Scheme, port: u.Port()}
	var ok bool
	if a.host, ok = normalHost(u.Hostname()); !ok || strings.HasSuffix(u.Host, ":") {
		return address{}, false
	}
	standard := map[string]string{"https": "443", "http": "80"}[a.scheme]
	if a.given = a.port != "" && a.port != standard; !a.given {
		a.port = standard
	}
	raw := u.EscapedPath()
	a.path = path.Clean("/" + u.Path)
	lower := strings.ToLower(raw)
	a.odd = strings.Contains(raw, "//") || strings.Contains(lower, "%2e") || strings.Contains(lower, "%2f") || strings.Contains(lower, "%5c") || strings.Contains(raw, ";") ||
		strings.TrimSuffix("/"+strings.TrimPrefix(u.Path, "/"), "/") != strings.TrimSuffix(a.path, "/")
	u.Host = a.hostPort()
	a.full = u.String()
	return a, true
}

func (a address) hostPort() string {
	host := a.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if a.given {
		return host + ":" + a.port
	}
	return host
}

var numeric = regexp.MustCompile(`^(?:0[xX][0-9a-fA-F]*|[0-9]+)(?:\.(?:0[xX][0-9a-fA-F]*|[0-9]+))*$`)

// normalHost returns a host name in ASCII and lower case without a dot at its
// end, or an IP address as it is usually written.
func normalHost(host string) (string, bool) {
	if ip := net.ParseIP(host); ip != nil {
		return ip.String(), true
	}
	host = strings.TrimSuffix(host, ".")
	ascii, err := idna.Lookup.ToASCII(host)
	if err != nil || ascii == "" || strings.Contains("."+ascii+".", "..") || numeric.MatchString(ascii) {
		return "", false // 0x7f.1 is an address to some
	}
	return strings.ToLower(ascii), true
}

// hostRule is the pattern of a rule about addresses.
type hostRule struct {
	address
	// star says that subdomains are meant, all says every host.
	star, all bool
	// exact is the whole address, if the rule is about a single one.
	exact string
}

func parseHostRule(r Rule) (h hostRule, ok bool) {
	if text, whole := r.exact(); whole {
		h.address, ok = parseAddress(text)
		h.exact = h.full
		return h, ok
	}
	text := r.pattern
	if text == "*" {
		return hostRule{all: true}, true
	}
	scheme, rest, full := strings.Cut(text, "://")
	if !full {
		scheme, rest = "https", text
	}
	if rest, h.star = strings.CutPrefix(rest, "*."); strings.ContainsAny(rest, "*?#") || !full && strings.Contains(rest, "/") {
		return hostRule{}, false
	}
	if h.address, ok = parseAddress(strings.ToLower(scheme) + "://" + rest); !ok || h.odd {
		return hostRule{}, false
	}
	if !full {
		h.scheme = ""
		if _, port, err := net.SplitHostPort(rest); err == nil {
			h.given, h.port = true, port
		}
	}
	return h, true
}

// about reports whether the rule's host is that of the address.
func (h hostRule) about(a address) bool {
	if h.all {
		return true
	}
	if h.star {
		return net.ParseIP(a.host) == nil && strings.HasSuffix(a.host, "."+h.host)
	}
	return a.host == h.host
}

// coversURL reports whether a rule allows an address. A rule that names no
// port is about the usual one of http and https.
func (r Rule) coversURL(text string) bool {
	a, ok := parseAddress(text)
	if r.pattern == "" {
		return true
	}
	h, fine := parseHostRule(r)
	switch {
	case !ok || !fine || !h.about(a):
		return false
	case h.exact != "":
		return h.exact == a.full
	case h.all:
		return true
	case h.scheme != "" && (h.scheme != a.scheme || h.port != a.port), h.scheme == "" && h.given && h.port != a.port, h.scheme == "" && !h.given && a.given:
		return false
	case h.path == "/" || h.path == "":
		return true
	}
	return !a.odd && (a.path == h.path || strings.HasPrefix(a.path, h.path+"/"))
}

// hitsURL reports whether a rule that denies or asks is about an address.
// Without a port in the rule every port counts, with any scheme.
func (r Rule) hitsURL(text string) danger {
	a, ok := parseAddress(text)
	h, fine := parseHostRule(r)
	switch {
	case fine && h.all:
		return yes
	case !ok || !fine:
		return maybe
	case !h.about(a), h.given && h.port != a.port, h.exact != "" && h.exact != a.full:
		return no
	case h.exact != "", h.path == "/", h.path == "", a.path == h.path, strings.HasPrefix(a.path, h.path+"/"):
		return yes
	case a.odd:
		return maybe
	}
	return no
}
