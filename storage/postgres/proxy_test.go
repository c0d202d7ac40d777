package postgres_test

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// cut says what becomes of a connection when its client commits.
type cut int

const (
	cutNothing cut = iota
	// cutAnswer lets the commit through and not its answer.
	cutAnswer
	// cutRequest does not let the commit through.
	cutRequest
	// cutServer is cutAnswer, and nothing passes until [proxy.setAway].
	cutServer
)

// proxy is a way to a server over the network that breaks when it is told to.
type proxy struct {
	listener net.Listener
	socket   string

	mu    sync.Mutex
	plan  []cut
	away  bool
	conns map[net.Conn]*atomic.Bool
}

// newProxy leads to the server of an address, and returns the address of the way.
func newProxy(tb testing.TB, address string) (*proxy, string) {
	tb.Helper()
	u, err := url.Parse(address)
	if err != nil {
		tb.Fatal(err)
	}
	query := u.Query()
	p := &proxy{socket: query.Get("host") + "/.s.PGSQL." + query.Get("port"), conns: map[net.Conn]*atomic.Bool{}}
	if p.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		tb.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() { p.serve(&served) })
	tb.Cleanup(func() {
		hangUp(p.listener)
		p.setAway(true)
		served.Wait()
	})
	query.Del("host")
	query.Del("port")
	query.Set("sslmode", "disable")
	u.Host, u.RawQuery = p.listener.Addr().String(), query.Encode()
	return p, u.String()
}

// next says what becomes of the next commits, one after another.
func (p *proxy) next(plan ...cut) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan = plan
}

// setAway breaks all connections and refuses new ones, or takes them again.
func (p *proxy) setAway(away bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away = away
	for c := range p.conns {
		hangUp(c)
	}
}

// forget leaves the present connections open and passes nothing on any more.
func (p *proxy) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, forgotten := range p.conns {
		forgotten.Store(true)
	}
}

func (p *proxy) serve(served *sync.WaitGroup) {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", p.socket)
		p.mu.Lock()
		if err != nil || p.away {
			hangUp(client)
			if err == nil {
				hangUp(server)
			}
			p.mu.Unlock()
			continue
		}
		mute := new(atomic.Bool)
		p.conns[client], p.conns[server] = mute, mute
		p.mu.Unlock()
		served.Go(func() { p.up(client, server, mute) })
		served.Go(func() { p.down(client, server, mute) })
	}
}

// up passes on what the client sends. Every message of a transaction's end comes
// alone, because the client waits for the answer to what was before.
func (p *proxy) up(client, server net.Conn, mute *atomic.Bool) {
	defer hangUp(client)
	defer hangUp(server)
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		if mute.Load() {
			continue
		}
		what := cutNothing
		if bytes.Contains(buf[:n], []byte("commit")) {
			p.mu.Lock()
			if len(p.plan) > 0 {
				what, p.plan = p.plan[0], p.plan[1:]
			}
			p.mu.Unlock()
		}
		switch what {
		case cutNothing:
		case cutRequest:
			return
		case cutAnswer:
			mute.Store(true)
		case cutServer:
			mute.Store(true)
			p.mu.Lock()
			p.away = true
			p.mu.Unlock()
		}
		if _, err := server.Write(buf[:n]); err != nil || what != cutNothing {
			return
		}
	}
}

// down passes on what the server answers, unless the connection is mute.
func (p *proxy) down(client, server net.Conn, mute *atomic.Bool) {
	defer hangUp(client)
	buf := make([]byte, 64<<10)
	for {
		n, err := server.Read(buf)
		if err != nil {
			return
		}
		if mute.Load() {
			continue
		}
		if _, err := io.Copy(client, strings.NewReader(string(buf[:n]))); err != nil {
			return
		}
	}
}

// hangUp closes what may be closed already.
func hangUp(c io.Closer) { _ = c.Close() }
