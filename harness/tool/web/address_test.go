package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"cairn/harness/tool/publicnet"
)

// trap is a listener on loopback that counts who comes.
type trap struct {
	port string
	seen atomic.Int64
}

func newTrap(t *testing.T) *trap {
	t.Helper()
	tr := &trap{}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			tr.seen.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	tr.port = port
	return tr
}

// TestNoInternalAddressIsReached fetches, from a listener on loopback, every
// form of address that has led there or into some private network.
func TestNoInternalAddressIsReached(t *testing.T) {
	t.Parallel()
	tr := newTrap(t)
	for _, host := range []string{
		"127.0.0.1", "127.1.2.3", "127.255.255.254", "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]",
		"2130706433", "0x7f000001", "0x7f.1", "0x7F.0.0.1", "017700000001", "0177.0.0.1", "127.1", "127.0.1", "127.0.0.1.", "127.0.0.0x1", "0",
		"0.0.0.0", "[::]", "169.254.169.254", "[fe80::1]", "[fe80::1%25lo]", "[::1%25lo]", "100.100.100.200", "100.64.0.1", "10.0.0.1", "172.16.0.1",
		"172.31.255.255", "192.168.1.1", "192.0.0.192", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1",
		"255.255.255.255", "[fc00::1]", "[fd00:ec2::254]", "[fec0::1]", "[ff02::1]", "[64:ff9b::7f00:1]", "[64:ff9b::10.0.0.1]", "[64:ff9b:1::1]",
		"[2002:7f00:1::]", "[2002:a00:1::1]", "[2001:0:7f00:1::]", "[2001::f5ff:fffe]", "[2001:db8::1]", "[3fff::1]", "[100::1]", "[5f00::1]",
		"localhost", "LOCALHOST", "localhost.", "a.localhost", "l\u00adocalhost", "ｌｏｃａｌｈｏｓｔ", "127。0。0。1", "127．0．0．1", "１２７.0.0.1",
		"①②⑦.⓪.⓪.①", "१२७.०.०.१", "%31%32%37.0.0.1", "127.0.0.1%00.example.com", "a@127.0.0.1", "a:b@127.0.0.1", "example.com@127.0.0.1", "127.0.0.1\\@example.com",
		"example.com\\@127.0.0.1", "127.0.0.1 example.com", "127.0.0.1\t", "[127.0.0.1]", "..", "", "-", "example..com", strings.Repeat("a.", 150) + "com", strings.Repeat("a", 64) + ".com",
	} {
		for _, scheme := range []string{"http", "https"} {
			address := fmt.Sprintf("%s://%s:%s/", scheme, host, tr.port)
			if r := get(t, Options{Resolve: loopback}, fetchIn{URL: address}); !r.Failed {
				t.Errorf("%s: %q", address, r.Text)
			}
		}
	}
	at := "127.0.0.1:" + tr.port
	for _, address := range []string{
		"file:///etc/passwd", "file://" + at + "/", "gopher://" + at + "/_GET", "ftp://" + at + "/", "data:text/html,hello", "javascript:alert(1)", "dict://" + at, "ws://" + at,
		"unix:///tmp/x", "view-source:http://" + at, "//" + at + "/", at, "/", "http:" + at, "http:/" + at, "http:///" + at, "http://", "https://:" + tr.port, "http://a@" + at,
		"http://" + at + "@example.com/", "http://example.com:99999/", "http://example.com:0/", "http://example.com:-1/", "http://exa\nmple.com/", "http://example.com/\u202Egnp.exe",
		"http://example.com/a\x00b", "http://" + at + "#@example.com/", "http://" + at + "?@example.com/", "blob:http://" + at, "http+unix://%2Ftmp%2Fx", "http://example.com/" + strings.Repeat("x", maxURL),
	} {
		if r := get(t, Options{Resolve: loopback}, fetchIn{URL: address}); !r.Failed {
			t.Errorf("%s: %q", address, r.Text)
		}
	}
	if n := tr.seen.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
	// The control: the trap sees who really comes.
	if r := get(t, private, fetchIn{URL: "http://" + at}); r.Failed || tr.seen.Load() != 1 {
		t.Errorf("%d connections, %q", tr.seen.Load(), r.Text)
	}
}

// loopback is a resolver that would bring every name to the trap.
func loopback(context.Context, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

func noResolver(_ context.Context, host string) ([]netip.Addr, error) {
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// names is a resolver with answers that change from one look-up to the next.
type names struct {
	mu      sync.Mutex
	answers map[string][][]string
	asked   []string
}

func (n *names) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, host)
	all := n.answers[host]
	if len(all) == 0 {
		return noResolver(ctx, host)
	}
	var out []netip.Addr
	for _, text := range all[0] {
		out = append(out, netip.MustParseAddr(text))
	}
	if len(all) > 1 {
		n.answers[host] = all[1:]
	}
	return out, nil
}

// TestNamesAreJudgedByWhatIsDialled lets a server that stands for the public
// network answer, and names that lead elsewhere later.
func TestNamesAreJudgedByWhatIsDialled(t *testing.T) {
	t.Parallel()
	tr := newTrap(t)
	public := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/again":
			http.Redirect(w, r, "/trap", http.StatusFound)
		case "/elsewhere":
			http.Redirect(w, r, "http://127.0.0.1:"+tr.port+"/", http.StatusFound)
		case "/www":
			http.Redirect(w, r, "http://www."+r.Host+"/", http.StatusFound)
		default:
			_, _ = fmt.Fprintf(w, "hello from %s", r.Host)
		}
	})
	public = strings.TrimPrefix(public, "http://")
	inside := [][]string{{"127.0.0.1"}}
	for name, c := range map[string]struct {
		answers map[string][][]string
		url     string
		want    string
		failed  bool
		dialled []string
	}{
		"public":          {map[string][][]string{"a.test": {{"1.2.3.4"}}}, "http://a.test/", "hello from a.test", false, []string{"1.2.3.4:80"}},
		"private":         {map[string][][]string{"a.test": inside}, "http://a.test/", "is not an address of the public network", true, nil},
		"several private": {map[string][][]string{"a.test": {{"10.0.0.1", "::1", "::ffff:127.0.0.1", "fe80::1%eth0"}}}, "http://a.test/", "is not an address of the public network", true, nil},
		"both":            {map[string][][]string{"a.test": {{"127.0.0.1", "1.2.3.4"}}}, "http://a.test/", "hello", false, []string{"1.2.3.4:80"}},
		"mapped":          {map[string][][]string{"a.test": {{"::ffff:1.2.3.4"}}}, "http://a.test/", "hello", false, []string{"1.2.3.4:80"}},
		"translated":      {map[string][][]string{"a.test": {{"64:ff9b::1.2.3.4"}}}, "http://a.test/", "hello", false, []string{"[64:ff9b::102:304]:80"}},
		"IPv6":            {map[string][][]string{"a.test": {{"2606:4700::1"}}}, "https://a.test/", "fetch https://a.test/", true, []string{"[2606:4700::1]:443"}},
		"unknown":         {nil, "http://a.test/", "no such host", true, nil},
		"no address":      {map[string][][]string{"a.test": {{}}}, "http://a.test/", "it has no address", true, nil},
		"the name is looked up again": {
			map[string][][]string{"a.test": {{"1.2.3.4"}, {"127.0.0.1"}}}, "http://a.test:" + tr.port + "/again", "is not an address of the public network", true, []string{"1.2.3.4:" + tr.port},
		},
		"a redirect to loopback": {
			map[string][][]string{"a.test": {{"1.2.3.4"}}}, "http://a.test/elsewhere", "redirects to where it may not: 127.0.0.1 is not", true, []string{"1.2.3.4:80"},
		},
		"a redirect to a private name": {
			map[string][][]string{"a.test": {{"1.2.3.4"}}, "www.a.test": inside}, "http://a.test/www", "is not an address of the public network", true, []string{"1.2.3.4:80"},
		},
		"a redirect that is followed": {
			map[string][][]string{"a.test": {{"1.2.3.4"}}, "www.a.test": {{"1.2.3.5"}}}, "http://a.test/www", "hello from www.a.test", false, []string{"1.2.3.4:80", "1.2.3.5:80"},
		},
		"an address": {nil, "http://1.2.3.4/", "hello from 1.2.3.4", false, []string{"1.2.3.4:80"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var dialled []string
			n := &names{answers: c.answers}
			dial := func(ctx context.Context, network, address string) (net.Conn, error) {
				mu.Lock()
				dialled = append(dialled, address)
				mu.Unlock()
				var d net.Dialer
				return d.DialContext(ctx, network, public)
			}
			r := get(t, Options{Resolve: n.resolve, Dial: dial}, fetchIn{URL: c.url})
			if r.Failed != c.failed || !strings.Contains(r.Text, c.want) {
				t.Errorf("failed %t, got %q", r.Failed, r.Text)
			}
			mu.Lock()
			defer mu.Unlock()
			if fmt.Sprint(dialled) != fmt.Sprint(c.dialled) {
				t.Errorf("dialled %q, want %q", dialled, c.dialled)
			}
		})
	}
	t.Cleanup(func() {
		if n := tr.seen.Load(); n != 0 {
			t.Errorf("%d connections were made to loopback", n)
		}
	})
}

func TestSocketsAreJudgedAgain(t *testing.T) {
	t.Parallel()
	tr := newTrap(t)
	// A resolver and a look-up that were fooled: the dialler is asked for
	// loopback all the same.
	f := newFetcher(Options{})
	if conn, err := f.o.Dial(t.Context(), "tcp", "127.0.0.1:"+tr.port); !errors.Is(err, publicnet.ErrPrivate) || conn != nil {
		t.Errorf("got %v, %v", conn, err)
	}
	if conn, err := f.o.Dial(t.Context(), "tcp", "localhost:"+tr.port); !errors.Is(err, publicnet.ErrPrivate) || conn != nil {
		t.Errorf("got %v, %v", conn, err)
	}
	for _, c := range []struct {
		network, address string
		want             bool
	}{
		{"tcp4", "8.8.8.8:443", true},
		{"tcp6", "[2606:4700::1]:443", true},
		{"tcp6", "[::ffff:127.0.0.1]:80", false},
		{"tcp6", "[fe80::1%lo]:80", false},
		{"tcp4", "nonsense", false},
		{"unix", "/tmp/x", false},
		{"udp4", "8.8.8.8:443", false},
	} {
		if err := f.control(t.Context(), c.network, c.address, nil); (err == nil) != c.want {
			t.Errorf("%s %s: %v", c.network, c.address, err)
		}
	}
	if n := tr.seen.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

func TestProxiesAreNoWayAround(t *testing.T) {
	tr := newTrap(t)
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, "http://127.0.0.1:"+tr.port)
	}
	dial := func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no network here") }
	n := &names{answers: map[string][][]string{"a.test": {{"1.2.3.4"}}}}
	for _, address := range []string{"http://a.test/", "https://a.test/"} {
		if r := get(t, Options{Resolve: n.resolve, Dial: dial}, fetchIn{URL: address}); !strings.Contains(r.Text, "no network here") {
			t.Errorf("got %q", r.Text)
		}
	}
	if seen := tr.seen.Load(); seen != 0 {
		t.Errorf("%d connections were made to the proxy", seen)
	}
}
