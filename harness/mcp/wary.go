package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	"cairn/harness/tool/publicnet"
)

const (
	// asking bounds each request that is made to sign in.
	asking = 30 * time.Second
	// maxAnswer bounds each answer to one, in bytes.
	maxAnswer = 256 << 10
	// maxHops is how many redirections are followed.
	maxHops = 5
)

// reach says where an address is, seen from this machine.
type reach int

const (
	public reach = iota
	// private is in the network of this machine, or of no use anywhere else.
	private
	// loopback is this machine.
	loopback
)

func reachOf(ip netip.Addr) reach {
	switch ip = ip.Unmap(); {
	case ip.IsLoopback(), ip.IsUnspecified():
		return loopback
	case publicnet.Check(ip) != nil:
		return private
	}
	return public
}

// reachOfHost is that of a host which is written as an address, or names this machine.
func reachOfHost(host string) reach {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return loopback
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return reachOf(ip)
	}
	return public
}

// wary carries requests to addresses that a server names: over TLS only, to nothing that
// is nearer than the server itself is, with answers of bounded length.
type wary struct {
	// near is how near to this machine an address may be.
	near reach

	mu sync.Mutex
	// why is what was refused first, and found says that something was answered.
	why   error
	found bool
}

// client is what asks.
func (w *wary) client() *http.Client {
	return &http.Client{Transport: w, CheckRedirect: w.redirect, Timeout: asking}
}

// refuse notes why something is not done. The library keeps that to itself at times.
func (w *wary) refuse(why error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.why == nil {
		w.why = why
	}
	return why
}

// seen is what was refused first, and whether something was answered.
func (w *wary) seen() (why error, found bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.why, w.found
}

// redirect follows where nothing is sent but the question.
func (w *wary) redirect(r *http.Request, via []*http.Request) error {
	if via[0].Method != http.MethodGet || len(via) > maxHops {
		return w.refuse(sentence("signing in to it redirects to " + line(r.URL.Host) + ", where nothing is sent"))
	}
	return nil
}

// allowed says why an address is none to ask.
func (w *wary) allowed(at *url.URL) error {
	near := reachOfHost(at.Hostname())
	switch {
	case at.Host == "" || at.User != nil || at.Scheme != "https" && at.Scheme != "http":
		return sentence("to sign in to it, " + address(at.String()) + " is to be asked, and that is no address for it")
	case at.Scheme == "http" && near != loopback:
		return sentence("to sign in to it, " + address(at.String()) + " is to be asked, and what is sent there is not encrypted")
	case near > w.near:
		return w.tooNear(at.Host)
	}
	return nil
}

func (w *wary) tooNear(host string) error {
	return sentence("to sign in to it, " + line(host) + " is to be asked, which is in a network that the server itself is not in")
}

// RoundTrip implements [http.RoundTripper].
func (w *wary) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := w.allowed(r.URL); err != nil {
		return nil, w.refuse(err)
	}
	resp, err := w.transport(r).RoundTrip(r)
	if err != nil {
		var said sentence
		if errors.As(err, &said) {
			return nil, w.refuse(said)
		}
		return nil, err
	}
	if r.Method == http.MethodGet && resp.StatusCode == http.StatusOK {
		w.mu.Lock()
		w.found = true
		w.mu.Unlock()
	}
	resp.Body = &answer{ReadCloser: resp.Body, left: maxAnswer, w: w}
	return resp, nil
}

// transport is the way of one request. Where names lead is looked at when it is dialled,
// so that they lead nowhere else meanwhile; behind a proxy nobody here can know.
func (w *wary) transport(r *http.Request) *http.Transport {
	t := newTransport()
	t.DisableKeepAlives = true // nobody closes it
	if t.Proxy != nil {
		if proxy, err := t.Proxy(r); proxy != nil || err != nil {
			return t
		}
	}
	d := &net.Dialer{Timeout: asking, Control: func(_, at string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(at)
		if err != nil {
			return fmt.Errorf("%s is no address: %w", line(at), err)
		}
		if reachOf(to.Addr()) > w.near {
			return w.tooNear(r.URL.Host)
		}
		return nil
	}}
	t.DialContext = func(ctx context.Context, network, at string) (net.Conn, error) {
		return d.DialContext(ctx, network, at)
	}
	return t
}

// newTransport is a transport as the program has it.
func newTransport() *http.Transport {
	if base, ok := http.DefaultTransport.(*http.Transport); ok {
		return base.Clone()
	}
	return &http.Transport{Proxy: http.ProxyFromEnvironment}
}

// answer is an answer of bounded length.
type answer struct {
	io.ReadCloser
	left int
	w    *wary
}

func (a *answer) Read(p []byte) (int, error) {
	if len(p) > a.left+1 {
		p = p[:a.left+1]
	}
	n, err := a.ReadCloser.Read(p)
	if n > a.left {
		return 0, a.w.refuse(sentence(fmt.Sprintf("an answer of it to signing in is larger than %d KiB", maxAnswer>>10)))
	}
	a.left -= n
	return n, err
}
