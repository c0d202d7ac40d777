package mcp

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

const (
	// answerPath is where the answer comes to.
	answerPath = "/callback"
	// maxAddress bounds an address that is opened or comes back, in bytes.
	maxAddress = 16 << 10
	// pageTime bounds the time that an answer takes to be read by the browser.
	pageTime = 2 * time.Second
)

// answers waits for the answer of where the person signs in: a request of their browser
// to this machine, or what they paste.
type answers struct {
	// address is where the answer is sent to.
	address string
	o       LoginOptions
	l       net.Listener
	s       *http.Server

	mu sync.Mutex
	// state is what the answer has to repeat; empty while nothing was asked.
	state string
	// taken says that there was an answer, and odd that another one was told of.
	taken, odd bool
	got        chan result
}

// result is the answer.
type result struct {
	auth.AuthorizationResult
	err error
}

// listen opens the address for the answer.
func listen(ctx context.Context, port int, o LoginOptions) (*answers, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, sentence("the answer to signing in cannot be waited for: " + line(err.Error()))
	}
	a := &answers{address: "http://" + l.Addr().String() + answerPath, o: o, l: l, got: make(chan result, 1)}
	a.s = &http.Server{Handler: a, ReadHeaderTimeout: asking, ReadTimeout: asking, WriteTimeout: asking, MaxHeaderBytes: 2 * maxAddress}
	go func() { _ = a.s.Serve(l) }() // it ends with close
	return a, nil
}

// close ends it once the browser has its page.
func (a *answers) close() {
	ctx, cancel := context.WithTimeout(context.Background(), pageTime)
	defer cancel()
	if a.s.Shutdown(ctx) != nil {
		_ = a.s.Close() // a browser that does not read is not waited for
	}
}

// ask has the person open an address, and waits for the answer.
func (a *answers) ask(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	address, state, err := opened(args.URL)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	a.state = state
	a.mu.Unlock()
	a.o.Show(address)
	limit := time.NewTimer(loginPatience)
	defer limit.Stop()
	pasted := a.o.Pasted
	for {
		select {
		case r := <-a.got:
			if r.err != nil {
				return nil, r.err
			}
			return &r.AuthorizationResult, nil
		case text, more := <-pasted:
			if !more {
				pasted = nil
				continue
			}
			if why := a.paste(text); why != "" {
				a.say(why)
			}
		case <-limit.C:
			return nil, sentence(fmt.Sprintf("nobody signed in within %s", loginPatience))
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (a *answers) say(text string) {
	if a.o.Say != nil {
		a.o.Say(text)
	}
}

// opened is an address of a server as it can be shown and opened, and the state in it.
func opened(raw string) (address, state string, err error) {
	at, err := url.Parse(raw)
	if err != nil {
		return "", "", sentence("the address to sign in at cannot be read")
	}
	switch address = at.String(); {
	case at.Scheme != "https" && (at.Scheme != "http" || reachOfHost(at.Hostname()) != loopback), at.Hostname() == "", at.User != nil:
		return "", "", sentence("the address to sign in at is none that a browser should open")
	case len(address) > maxAddress:
		return "", "", sentence("the address to sign in at is longer than any address")
	case strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", "", sentence("the address to sign in at has characters in it that no address has")
	}
	return address, at.Query().Get("state"), nil
}

// paste takes an address that the person pasted, or says why it is not the one.
func (a *answers) paste(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	at, err := url.Parse(text)
	if err != nil || len(text) > maxAddress || at.RawQuery == "" {
		return "that is not the address that the browser was sent to; it begins with " + a.address + "?"
	}
	return a.take(at.Query())
}

// take takes an answer, or says why it is none.
func (a *answers) take(q url.Values) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch state := q.Get("state"); {
	case a.state == "" || subtle.ConstantTimeCompare([]byte(state), []byte(a.state)) != 1:
		return "that answer is not to what was asked here; it is not used"
	case a.taken:
		return "there was an answer already; this one is not used"
	}
	r := result{AuthorizationResult: auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}}
	switch {
	case q.Get("error") != "":
		r.err = sentence("you are not signed in" + saidWords(q.Get("error"), q.Get("error_description")))
	case r.Code == "":
		r.err = sentence("you are not signed in: the answer has no code in it")
	}
	a.taken = true
	a.got <- r
	return ""
}

// ServeHTTP answers the browser, with nothing in it of what it sent.
func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Host != a.l.Addr().String(): // a page that made its own name lead here
		page(w, http.StatusMisdirectedRequest, "This address is not asked under that name.")
	case r.URL.Path != answerPath:
		page(w, http.StatusNotFound, "There is nothing here.")
	case r.Method != http.MethodGet:
		w.Header().Set("Allow", http.MethodGet)
		page(w, http.StatusMethodNotAllowed, "There is nothing here.")
	default:
		if why := a.take(r.URL.Query()); why != "" {
			a.once(why)
			page(w, http.StatusConflict, strings.ToUpper(why[:1])+why[1:]+".")
			return
		}
		page(w, http.StatusOK, "This answer went to the terminal, which says whether you are signed in. You can close this page.")
	}
}

// once tells the person of the first answer of the browser that is of no use: any page
// can have it send some.
func (a *answers) once(why string) {
	a.mu.Lock()
	told := a.odd
	a.odd = true
	a.mu.Unlock()
	if !told {
		a.say("the browser sent an answer: " + why)
	}
}

// page is what the browser shows: a sentence of ours.
func page(w http.ResponseWriter, code int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Connection", "close")
	w.WriteHeader(code)
	const form = "<!doctype html><meta charset=\"utf-8\"><title>cairn</title><p>%s</p>\n"
	if _, err := fmt.Fprintf(w, form, text); err != nil && !errors.Is(err, http.ErrBodyNotAllowed) {
		return // the browser is gone, and has what it sent
	}
}
