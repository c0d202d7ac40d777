package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/mcp"
	"cairn/harness/mcp/oauthtest"
)

// kept keeps sign-ins in memory.
type kept struct {
	mu  sync.Mutex
	all map[string]mcp.SignIn
	// changing is held during a change.
	changing sync.Mutex
}

func (k *kept) Load(_ context.Context, server string) (mcp.SignIn, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.all[server], nil
}

func (k *kept) Change(ctx context.Context, server string, change func(mcp.SignIn) (mcp.SignIn, error)) error {
	k.changing.Lock()
	defer k.changing.Unlock()
	before, _ := k.Load(ctx, server)
	after, err := change(before)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil {
		k.all = map[string]mcp.SignIn{}
	}
	k.all[server] = after
	return nil
}

// browser opens what it is shown. One that gets no page, as it is slower than whoever
// waits for it, did what it was for; where it did not, nobody is signed in.
func browser(t *testing.T) func(string) {
	t.Helper()
	var opened sync.WaitGroup
	t.Cleanup(opened.Wait)
	return func(address string) {
		opened.Go(func() {
			if err := oauthtest.Open(t.Context(), address); err != nil {
				t.Log(err)
			}
		})
	}
}

// login signs in to a server.
func login(t *testing.T, s mcp.Server, k *kept) {
	t.Helper()
	if err := mcp.Login(t.Context(), s, mcp.LoginOptions{SignIns: k, Show: browser(t)}); err != nil {
		t.Fatal(err)
	}
}

func TestAPersonSignsInOnceAndTheTokenIsNoOnesToSee(t *testing.T) {
	t.Parallel()
	as, k, log := oauthtest.New(t), &kept{}, &journal{}
	o := at(as.URL)
	o.SignIns, o.Log = k, log.log()
	m, set := managed(t, o)
	want := "it wants you to sign in (401 Unauthorized); run: cairn mcp login s"
	if s := one(m); s.State != harness.ServerFailed || s.Err != want || !s.Retry.IsZero() {
		t.Fatalf("the server is %+v", s)
	}
	login(t, o.Servers[0], k)
	if got := strings.Fields(as.Asked()[0].Get("scope")); len(got) != 2 || !slices.Contains(got, "read") || !slices.Contains(got, "write") {
		t.Errorf("asked for the scopes %q", got)
	}
	if err := m.Reconnect(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	ready(t, m)
	r := call(t.Context(), set, "s_do", "{}", nil)
	if r.Failed || r.Text != "done with Bearer [redacted token]" {
		t.Errorf("the call gave %+v", r)
	}
	if text := log.String() + fmt.Sprint(m.List()); strings.Contains(text, "secret-") {
		t.Errorf("a token is in %s", text)
	}
}

func TestATokenIsRenewedBeforeItEndsAndWhenItIsRefused(t *testing.T) {
	t.Parallel()
	as, k := oauthtest.New(t), &kept{}
	o := at(as.URL)
	login(t, o.Servers[0], k)
	var mu sync.Mutex
	now := time.Now()
	o.SignIns, o.Now = k, func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	m, set := managed(t, o)
	ready(t, m)
	mu.Lock()
	now = now.Add(2 * time.Hour)
	mu.Unlock()
	works(t, set, "s_do", "{}", "done")
	if as.Renewed() != 1 {
		t.Fatalf("a token that ran out was renewed %d times", as.Renewed())
	}
	mu.Lock()
	now = time.Now()
	mu.Unlock()
	as.Revoke(false)
	works(t, set, "s_do", "{}", "done")
	if as.Renewed() != 2 {
		t.Fatalf("a token that was refused was renewed %d times", as.Renewed()-1)
	}
	as.Revoke(true)
	r := call(t.Context(), set, "s_do", "{}", nil)
	if !r.Failed || r.Unknown || !strings.Contains(r.Text, "the sign-in to it has ended (401 Unauthorized); sign in again: cairn mcp login s") {
		t.Errorf("the call gave %+v", r)
	}
	if in, _ := k.Load(t.Context(), "s"); !in.None() {
		t.Errorf("of a sign-in that ended %+v is kept", in)
	}
	login(t, o.Servers[0], k)
	works(t, set, "s_do", "{}", "done") // without another start
}

// Each process has a manager of its own, and the server takes each refresh token once.
func TestProcessesThatRenewAtOnceLoseNothing(t *testing.T) {
	t.Parallel()
	as, k := oauthtest.New(t), &kept{}
	o := at(as.URL)
	login(t, o.Servers[0], k)
	o.SignIns = k
	type process struct{ run func() harness.ToolResult }
	all := make([]process, 4)
	for i := range all {
		m, set := managed(t, o)
		ready(t, m)
		all[i].run = func() harness.ToolResult { return call(t.Context(), set, "s_do", "{}", nil) }
	}
	for range 3 {
		before := as.Renewed()
		as.Revoke(false)
		var work sync.WaitGroup
		for _, p := range all {
			work.Go(func() {
				if r := p.run(); r.Failed {
					t.Errorf("the call gave %+v", r)
				}
			})
		}
		work.Wait()
		if n := as.Renewed() - before; n != 1 {
			t.Errorf("renewed %d times", n)
		}
	}
}

func TestATokenGoesToNoOtherAddress(t *testing.T) {
	t.Parallel()
	as, k := oauthtest.New(t), &kept{}
	login(t, at(as.URL).Servers[0], k)
	var got sync.Map
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got.Store("auth", r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(other.Close)
	o := at(other.URL + "/mcp")
	o.SignIns = k
	m, _ := managed(t, o)
	if s := one(m); s.State != harness.ServerFailed || !strings.Contains(s.Err, "cairn mcp login s; if it wants a key") {
		t.Errorf("the server is %+v", s)
	}
	if v, ok := got.Load("auth"); !ok || v != "" {
		t.Errorf("the other server got %q", v)
	}
	if in, _ := k.Load(t.Context(), "s"); in.URL != as.URL {
		t.Errorf("kept is %+v", in)
	}
}

func TestARefusedHeaderOfTheConfigurationIsNoSignIn(t *testing.T) {
	t.Parallel()
	as := oauthtest.New(t)
	o := at(as.URL)
	o.SignIns, o.Servers[0].Headers = &kept{}, map[string]string{"Authorization": "Bearer hunter2hunter2"}
	m, _ := managed(t, o)
	if s := one(m); !strings.Contains(s.Err, "the server wants credentials (401 Unauthorized)") {
		t.Errorf("the server is %+v", s)
	}
	err := mcp.Login(t.Context(), o.Servers[0], mcp.LoginOptions{SignIns: &kept{}, Show: browser(t)})
	if err == nil || !strings.Contains(err.Error(), "take them out of the configuration") {
		t.Errorf("login: %v", err)
	}
}

func TestAClientThatWasRegisteredByHandSignsIn(t *testing.T) {
	t.Parallel()
	as, k := oauthtest.New(t), &kept{}
	as.Client, as.Secret = "mine", "hunter2hunter2"
	as.Authority = func(m map[string]any) { delete(m, "registration_endpoint") }
	s := at(as.URL).Servers[0]
	err := mcp.Login(t.Context(), s, mcp.LoginOptions{SignIns: k, Show: browser(t)})
	if err == nil || !strings.Contains(err.Error(), "set its client_id in the configuration of the server") {
		t.Errorf("without a client: %v", err)
	}
	s.OAuth = mcp.OAuth{Client: "mine", Secret: "hunter2hunter2", Scopes: []string{"a", "b"}}
	login(t, s, k)
	if got := strings.Fields(as.Asked()[0].Get("scope")); len(got) != 2 || !slices.Contains(got, "a") || !slices.Contains(got, "b") {
		t.Errorf("asked for the scopes %q", got)
	}
	o := mcp.Options{Servers: []mcp.Server{s}, SignIns: k}
	m, set := managed(t, o)
	ready(t, m)
	as.Revoke(false)
	works(t, set, "s_do", "{}", "done")
}

func TestAnAnswerCanBePasted(t *testing.T) {
	t.Parallel()
	as, k := oauthtest.New(t), &kept{}
	lines := make(chan string, 10)
	var said []string
	err := mcp.Login(t.Context(), at(as.URL).Servers[0], mcp.LoginOptions{
		SignIns: k, Pasted: lines, Say: func(text string) { said = append(said, text) },
		Show: func(address string) {
			to, err := oauthtest.Sent(t.Context(), address)
			if err != nil {
				t.Error(err)
			}
			lines <- "y"
			lines <- strings.Replace(to, "state=", "state=x", 1)
			lines <- " " + to + " "
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(said) != 2 || !strings.Contains(said[0], "that is not the address that the browser was sent to") || !strings.Contains(said[1], "that answer is not to what was asked here") {
		t.Errorf("said %q", said)
	}
	if in, _ := k.Load(t.Context(), "s"); in.None() {
		t.Error("nothing is kept")
	}
}

// fetch is what a browser gets.
func fetch(t *testing.T, method, address, host string) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Error(err)
		return 0, "", nil
	}
	if host != "" {
		r.Host = host
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return 0, "", nil
	}
	defer resp.Body.Close() //nolint:errcheck // it is read
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body), resp.Header
}

func TestTheBrowsersAnswerIsTakenOnceAndNothingOfItIsShown(t *testing.T) {
	t.Parallel()
	as, k := oauthtest.New(t), &kept{}
	as.Answer = func(q url.Values) { q.Set("x", "<script>") }
	var said []string
	login := make(chan error, 1)
	shown := make(chan string, 1)
	go func() {
		login <- mcp.Login(t.Context(), at(as.URL).Servers[0], mcp.LoginOptions{SignIns: k, Show: func(a string) { shown <- a }, Say: func(text string) { said = append(said, text) }})
	}()
	to, err := oauthtest.Sent(t.Context(), <-shown)
	if err != nil {
		t.Fatal(err)
	}
	back, _ := url.Parse(to)
	for what, c := range map[string]struct {
		method, address, host string
		code                  int
	}{
		"another state": {"GET", strings.Replace(to, "state=", "state=x", 1), "", http.StatusConflict},
		"no state":      {"GET", "http://" + back.Host + back.Path + "?code=c", "", http.StatusConflict},
		"another path":  {"GET", "http://" + back.Host + "/", "", http.StatusNotFound},
		"another host":  {"GET", to, "evil.test", http.StatusMisdirectedRequest},
		"a post":        {"POST", to, "", http.StatusMethodNotAllowed},
	} {
		if code, body, _ := fetch(t, c.method, c.address, c.host); code != c.code || strings.Contains(body, "script") {
			t.Errorf("%s: got %d %q", what, code, body)
		}
	}
	code, body, head := fetch(t, "GET", to, "")
	if code != http.StatusOK || strings.Contains(body, "script") || !strings.Contains(body, "close this page") {
		t.Errorf("got %d %q", code, body)
	}
	if head.Get("Content-Security-Policy") != "default-src 'none'; frame-ancestors 'none'" || head.Get("Referrer-Policy") != "no-referrer" || head.Get("Cache-Control") != "no-store" {
		t.Errorf("the head is %v", head)
	}
	if err := <-login; err != nil {
		t.Fatal(err)
	}
	if len(said) != 1 || said[0] != "the browser sent an answer: that answer is not to what was asked here; it is not used" {
		t.Errorf("said %q", said)
	}
}

func TestASecondAnswerIsNotTaken(t *testing.T) {
	t.Parallel()
	as, k := oauthtest.New(t), &kept{}
	var second sync.WaitGroup
	as.Token = func(map[string]any) { second.Wait() }
	err := mcp.Login(t.Context(), at(as.URL).Servers[0], mcp.LoginOptions{SignIns: k, Show: func(address string) {
		to, err := oauthtest.Sent(t.Context(), address)
		if err != nil {
			t.Error(err)
		}
		second.Add(1)
		go func() {
			defer second.Done()
			if code, _, _ := fetch(t, "GET", to, ""); code != http.StatusOK {
				t.Errorf("the first answer got %d", code)
			}
			if code, body, _ := fetch(t, "GET", to, ""); code != http.StatusConflict || !strings.Contains(body, "There was an answer already") {
				t.Errorf("the second answer got %d %q", code, body)
			}
		}()
	}})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAServerThatIsUpToNoGoodSignsNobodyIn(t *testing.T) {
	t.Parallel()
	const elsewhere = "http://192.0.2.1/"
	for what, c := range map[string]struct {
		fault func(as *oauthtest.Server)
		want  string
	}{
		"refuses in colours": {func(as *oauthtest.Server) {
			as.Answer = func(q url.Values) {
				q.Del("code")
				q.Set("error", "access_denied")
				q.Set("error_description", "no \x1b[31mway\nout\u202e")
			}
		}, "you are not signed in; it says: access_denied: no <U+001B>[31mway out<U+202E>"},
		"no code":        {func(as *oauthtest.Server) { as.Answer = func(q url.Values) { q.Del("code") } }, "the answer has no code in it"},
		"another code":   {func(as *oauthtest.Server) { as.Answer = func(q url.Values) { q.Set("code", "x") } }, "the server gives no token (400 Bad Request); it says: invalid_grant: no<U+001B>[2Jmore"},
		"another issuer": {func(as *oauthtest.Server) { as.Answer = func(q url.Values) { q.Set("iss", "https://evil.test") } }, "does not match expected issuer"},
		"no issuer":      {func(as *oauthtest.Server) { as.Answer = func(q url.Values) { q.Del("iss") } }, "none was received"},
		"other metadata": {func(as *oauthtest.Server) {
			as.Authority = func(m map[string]any) { m["issuer"] = "https://evil.test" }
		}, "does not match issuer"},
		"no PKCE": {func(as *oauthtest.Server) {
			as.Authority = func(m map[string]any) { delete(m, "code_challenge_methods_supported") }
		}, "does not implement PKCE"},
		"a script": {func(as *oauthtest.Server) {
			as.Authority = func(m map[string]any) { m["authorization_endpoint"] = "javascript:alert(1)" }
		}, "disallowed scheme"},
		"a file": {func(as *oauthtest.Server) {
			as.Authority = func(m map[string]any) { m["authorization_endpoint"] = "file://localhost/etc/passwd" }
		}, "none that a browser should open"},
		"another program": {func(as *oauthtest.Server) {
			as.Authority = func(m map[string]any) { m["authorization_endpoint"] = "calc://localhost/x" }
		}, "none that a browser should open"},
		"a user": {func(as *oauthtest.Server) {
			as.Authority = func(m map[string]any) { m["authorization_endpoint"] = "https://bank.test@evil.test/" }
		}, "none that a browser should open"},
		"letters": {func(as *oauthtest.Server) {
			as.Authority = func(m map[string]any) { m["authorization_endpoint"] = "https://exаmple.test/" }
		}, "characters in it that no address has"},
		"control": {func(as *oauthtest.Server) {
			as.Authority = func(m map[string]any) { m["authorization_endpoint"] = "https://h.test/\x1b[2J" }
		}, "signing in failed: "},
		"plain text": {func(as *oauthtest.Server) { as.Authority = func(m map[string]any) { m["token_endpoint"] = elsewhere } }, "does not use HTTPS"},
		"endless metadata": {func(as *oauthtest.Server) {
			as.Authority = func(m map[string]any) { m["x"] = strings.Repeat("x", 1<<20) }
		}, "larger than 256 KiB"},
		"an endless token": {func(as *oauthtest.Server) { as.Token = func(m map[string]any) { m["x"] = strings.Repeat("x", 1<<20) } }, "larger than 256 KiB"},
		"a long token": {func(as *oauthtest.Server) {
			as.Token = func(m map[string]any) { m["access_token"] = strings.Repeat("x", 100<<10) }
		}, "longer than any token"},
		"a token in lines": {func(as *oauthtest.Server) {
			as.Token = func(m map[string]any) { m["access_token"] = "a\r\nX-Other: b" }
		}, "characters in them that no token has"},
		"another kind": {func(as *oauthtest.Server) { as.Token = func(m map[string]any) { m["token_type"] = "DPoP" } }, "of a kind that is not known here: DPoP"},
		"no token":     {func(as *oauthtest.Server) { as.Token = func(m map[string]any) { delete(m, "access_token") } }, "missing access_token"},
		"a redirection of what is sent": {func(as *oauthtest.Server) {
			as.Other = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/token" {
					http.Redirect(w, r, "/mcp", http.StatusTemporaryRedirect)
					return true
				}
				return false
			}
		}, "where nothing is sent"},
		"a key is wanted": {func(as *oauthtest.Server) {
			as.Other = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/mcp" {
					w.WriteHeader(http.StatusUnauthorized)
				} else {
					w.WriteHeader(http.StatusNotFound)
				}
				return true
			}
		}, "it does not say where one signs in to it; if it wants a key, set the header"},
		"nothing is wanted": {func(as *oauthtest.Server) {
			as.Other = func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(http.StatusOK); return true }
		}, "it does not ask you to sign in (it answered 200 OK)"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			as, k := oauthtest.New(t), &kept{}
			c.fault(as)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			err := mcp.Login(ctx, at(as.URL).Servers[0], mcp.LoginOptions{SignIns: k, Show: browser(t)})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if err != nil && strings.ContainsAny(err.Error(), "\x1b\n\r\u202e") || len(fmt.Sprint(err)) > 500 {
				t.Errorf("said %q", err)
			}
			if len(k.all) > 0 {
				t.Errorf("kept is %+v", k.all)
			}
		})
	}
}

func TestWhoeverGivesUpIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	as, k := oauthtest.New(t), &kept{}
	ctx, cancel := context.WithCancel(t.Context())
	err := mcp.Login(ctx, at(as.URL).Servers[0], mcp.LoginOptions{SignIns: k, Show: func(string) { cancel() }})
	if !errors.Is(err, context.Canceled) || len(k.all) > 0 {
		t.Errorf("got %v, kept %v", err, k.all)
	}
}
