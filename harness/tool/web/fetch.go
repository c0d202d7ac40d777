package web

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"cairn/harness/tool"
	"cairn/harness/tool/publicnet"
)

const (
	// connecting bounds the attempt to reach one of a host's addresses;
	// maxAddresses are tried.
	connecting   = 5 * time.Second
	maxAddresses = 6
	// maxHeader bounds the headers of an answer, in bytes.
	maxHeader = 64 << 10
)

// newClient returns a client that connects as [fetcher.dial] does, follows
// nothing by itself, keeps no connection and no cookie.
func (f *fetcher) newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy: nil, DialContext: f.dial, DisableKeepAlives: true, DisableCompression: true, ForceAttemptHTTP2: true,
			TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: maxHeader,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// dial looks a host up and connects to one of its addresses: to the address
// itself, so that no second look-up can give another one.
func (f *fetcher) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	addrs, err := f.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	var failures []error
	for _, addr := range addrs {
		conn, err := f.connect(ctx, network, net.JoinHostPort(addr.String(), port))
		if err == nil {
			return conn, nil
		}
		failures = append(failures, err)
	}
	return nil, errors.Join(failures...)
}

func (f *fetcher) connect(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connecting)
	defer cancel()
	return f.o.Dial(ctx, network, address)
}

// lookup returns the addresses of a host that may be dialled, IPv4 first. An
// error says why there are none.
func (f *fetcher) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	all := []netip.Addr{}
	if addr, err := netip.ParseAddr(host); err == nil {
		all = append(all, addr)
	} else if all, err = f.o.Resolve(ctx, host); err != nil {
		return nil, fmt.Errorf("look up %s: %w", host, unnamed(err))
	}
	var v4, v6 []netip.Addr
	var refused error
	for _, addr := range all {
		addr = addr.Unmap()
		if err := f.judge(addr); err != nil {
			refused = fmt.Errorf("%s: %w", host, err)
			continue
		}
		if addr.Is4() {
			v4 = append(v4, addr)
		} else {
			v6 = append(v6, addr)
		}
	}
	good := append(v4, v6...)
	switch {
	case len(good) > 0:
		return good[:min(len(good), maxAddresses)], nil
	case refused != nil:
		return nil, refused
	default:
		return nil, fmt.Errorf("look up %s: it has no address", host)
	}
}

func (f *fetcher) judge(addr netip.Addr) error {
	if f.o.AllowPrivate {
		return nil
	}
	return publicnet.Check(addr)
}

// control judges the address of a socket right before it connects.
func (f *fetcher) control(_ context.Context, network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("%s %w", network, publicnet.ErrPrivate)
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("read address to dial: %w", err)
	}
	return f.judge(at.Addr())
}

// fetch fetches a page for a call.
func (f *fetcher) fetch(ctx context.Context, in fetchIn) (string, error) {
	if in.Limit < 0 || in.Start < 0 {
		return "", errors.New("start and max_characters must not be negative")
	}
	if in.Limit == 0 || in.Limit > maxCharacters {
		in.Limit = maxCharacters
	}
	u, err := f.target(in.URL)
	if err != nil {
		return "", err
	}
	inner, cancel := context.WithTimeoutCause(ctx, f.o.Timeout, ErrTimeout)
	defer cancel()
	text, err := f.follow(inner, u, in)
	if err != nil && errors.Is(context.Cause(inner), ErrTimeout) {
		return "", fmt.Errorf("%w: %s took more than %s", ErrTimeout, u, f.o.Timeout)
	}
	return text, err
}

// follow goes from the address that was agreed to through its redirects.
func (f *fetcher) follow(ctx context.Context, agreed *url.URL, in fetchIn) (string, error) {
	at := agreed
	for range maxHops + 1 {
		res, err := f.get(ctx, at)
		if err != nil {
			return "", err
		}
		next, err := f.redirect(at, res)
		if err == nil && next == nil {
			text, err := f.page(ctx, at, res, in)
			return text, errors.Join(err, drop(res))
		}
		if err = errors.Join(err, drop(res)); err != nil {
			return "", err
		}
		if !follows(agreed, next) {
			return fmt.Sprintf("%s redirects to another place, which was not followed: %s\n(Fetch that address if it is what you want.)", at, next), nil
		}
		at = next
	}
	return "", fmt.Errorf("%s redirects more than %d times", agreed, maxHops)
}

// drop closes an answer. What is left of it is not read.
func drop(res *http.Response) error {
	if err := res.Body.Close(); err != nil {
		return fmt.Errorf("close the answer: %w", err)
	}
	return nil
}

// get sends the request. Errors name the address once and hold no other text
// of the request.
func (f *fetcher) get(ctx context.Context, u *url.URL) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("%w: it is malformed", ErrURL)
	}
	req.Header.Set("User-Agent", f.o.UserAgent)
	req.Header.Set("Accept", "text/markdown, text/html;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.1")
	req.Header.Set("Accept-Encoding", "gzip")
	res, err := f.client.Do(req)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return nil, fmt.Errorf("fetch %s: %w", u, brief{err})
	}
	return res, nil
}

// brief is an error whose text may hold what a server sent: only its start is
// told.
type brief struct{ error }

func (b brief) Error() string {
	return tool.Clip(strings.ToValidUTF8(b.error.Error(), "\uFFFD"), excerpt)
}

func (b brief) Unwrap() error { return b.error }

// unnamed is why a look-up failed, without the server that was asked: which one
// that is concerns nobody.
func unnamed(err error) error {
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return errors.New(dns.Err)
	}
	return err
}

// redirect returns where an answer redirects to, nil if it does not.
func (f *fetcher) redirect(at *url.URL, res *http.Response) (*url.URL, error) {
	switch res.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil //nolint:nilnil // there is none, and that is no error
	}
	location := strings.TrimSpace(res.Header.Get("Location"))
	if err := readable(location); err != nil {
		return nil, fmt.Errorf("%s redirects to nowhere: %w", at, err)
	}
	ref, err := url.Parse(location)
	if err != nil {
		return nil, fmt.Errorf("%s redirects to nowhere: %w: it is malformed", at, ErrURL)
	}
	next, err := normal(at.ResolveReference(ref))
	if err == nil && !f.o.AllowPrivate {
		err = allowed(next)
	}
	if err != nil {
		return nil, fmt.Errorf("%s redirects to where it may not: %w", at, err)
	}
	return next, nil
}

// body reads an answer, unpacked, and reports whether that is all of it.
func body(res *http.Response) (data []byte, whole bool, err error) {
	// Also what is packed is bounded: it may be long and unpack to nothing.
	packed := &io.LimitedReader{R: res.Body, N: maxBody + 1}
	src := io.Reader(packed)
	switch coding := strings.ToLower(strings.TrimSpace(res.Header.Get("Content-Encoding"))); coding {
	case "", "identity":
	case "gzip", "x-gzip":
		unpacked, err := gzip.NewReader(packed)
		if errors.Is(err, io.EOF) {
			return nil, true, nil
		}
		if err != nil {
			return nil, false, fmt.Errorf("unpack the answer: %w", err)
		}
		src = unpacked
	default:
		return nil, false, fmt.Errorf("the answer is packed with %.40q, which was not asked for", coding)
	}
	data, err = io.ReadAll(io.LimitReader(src, maxBody+1))
	cut := packed.N == 0 || len(data) > maxBody
	if err != nil && (!cut || !errors.Is(err, io.ErrUnexpectedEOF)) {
		return nil, false, fmt.Errorf("read the answer: %w", err)
	}
	return data[:min(len(data), maxBody)], !cut, nil
}
