package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// loginPatience is how long the person may take to sign in.
const loginPatience = 10 * time.Minute

// LoginOptions say how a person is signed in.
type LoginOptions struct {
	// SignIns keeps what comes of it.
	SignIns SignIns
	// Show is handed the address that the person is to open in a browser: http or https,
	// in printable ASCII. It must not wait for them.
	Show func(address string)
	// Pasted gives what the person pastes: the address that their browser was sent to,
	// where that is on another machine and could not reach this one. Nil is for nobody who
	// can.
	Pasted <-chan string
	// Say is told sentences about answers that are of no use; the right one is still waited
	// for. It may be called by several goroutines at once; nil drops them.
	Say func(text string)
	// Name is what this program is called where the person signs in; empty means "cairn".
	Name string
}

// Login signs a person in to a server with OAuth: it finds out where that is done, has
// them open an address there, waits for the answer at an address of this machine, and
// keeps what comes of it. Nothing is kept of what goes wrong. The error is a sentence.
func Login(ctx context.Context, s Server, o LoginOptions) error {
	if err := Check(s); err != nil {
		return err
	}
	switch {
	case s.Fault != "":
		return sentence(s.Fault)
	case s.URL == "":
		return sentence("one signs in to servers that have a url, and it has a command")
	case !signable(s):
		return sentence("it has credentials in its headers; take them out of the configuration to sign in to it")
	case o.SignIns == nil:
		return sentence("there is no place where a sign-in could be kept")
	}
	in, err := signIn(ctx, s, o)
	if err != nil {
		return err
	}
	if err := o.SignIns.Change(ctx, s.Name, func(SignIn) (SignIn, error) { return in, nil }); err != nil {
		return fmt.Errorf("keep the sign-in: %w", err)
	}
	return nil
}

// signIn gets a token.
func signIn(ctx context.Context, s Server, o LoginOptions) (SignIn, error) {
	req, resp, near, err := knock(ctx, s)
	if err != nil {
		return SignIn{}, sentence(clearOf(s, plain(err)))
	}
	defer resp.Body.Close() //nolint:errcheck // nothing of it is read
	a, err := listen(ctx, s.OAuth.Port, o)
	if err != nil {
		return SignIn{}, err
	}
	defer a.close() //nolint:contextcheck // the browser gets its page also when ctx has ended
	w := &wary{near: near}
	in := SignIn{URL: s.URL}
	h, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		PreregisteredClient: registered(s.OAuth),
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: cmp.Or(o.Name, "cairn"), RedirectURIs: []string{a.address}, TokenEndpointAuthMethod: "none",
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		}},
		RedirectURL: a.address, AuthorizationCodeFetcher: a.ask, RequestRefreshToken: true, AcceptUnadvertisedIss: true, Client: w.client(),
		ScopeFilter: func(found []string) []string {
			if len(s.OAuth.Scopes) > 0 {
				return s.OAuth.Scopes
			}
			return found
		},
		NewTokenSource: func(_ context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			if err := usableToken(t); err != nil {
				return nil, err
			}
			in.Token, in.Refresh, in.Expires = t.AccessToken, t.RefreshToken, t.Expiry
			in.TokenURL, in.Client, in.Secret, in.Style = c.Endpoint.TokenURL, c.ClientID, c.ClientSecret, int(c.Endpoint.AuthStyle)
			return oauth2.StaticTokenSource(t), nil
		},
	})
	if err != nil {
		return SignIn{}, sentence("signing in cannot begin: " + line(err.Error()))
	}
	if err := unbroken(func() error { return h.Authorize(ctx, req, resp) }); err != nil {
		if ctx.Err() != nil {
			return SignIn{}, ctx.Err()
		}
		return SignIn{}, sentence(clearOf(s, unsigned(w, err)))
	}
	if in.None() {
		return SignIn{}, sentence("the server gives no token")
	}
	return in, nil
}

// clearOf is a sentence without what the server is given in confidence.
func clearOf(s Server, text string) string {
	return secrets(s).Redact(strings.ReplaceAll(text, s.URL, address(s.URL)))
}

// registered is how the program was registered by hand, nil if it was not.
func registered(o OAuth) *oauthex.ClientCredentials {
	if o.Client == "" {
		return nil
	}
	c := &oauthex.ClientCredentials{ClientID: o.Client}
	if o.Secret != "" {
		c.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: o.Secret}
	}
	return c
}

// knock has a server refuse a request, which is how it says where one signs in, and tells
// how near it is.
func knock(ctx context.Context, s Server) (*http.Request, *http.Response, reach, error) {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	at, err := url.Parse(s.URL)
	if err != nil {
		return nil, nil, public, sentence("its url cannot be read")
	}
	hello, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": map[string]any{
		"protocolVersion": legacy, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "cairn", "version": "1"},
	}})
	if err != nil {
		return nil, nil, public, err
	}
	near := reachOfHost(at.Hostname())
	seen := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
		if to, err := netip.ParseAddrPort(c.Conn.RemoteAddr().String()); err == nil {
			near = max(near, reachOf(to.Addr()))
		}
	}})
	w := &web{at: at, headers: s.Headers, base: newTransport()}
	defer w.base.CloseIdleConnections()
	r, err := http.NewRequestWithContext(seen, http.MethodPost, s.URL, bytes.NewReader(hello))
	if err != nil {
		return nil, nil, public, err
	}
	if proxy, err := w.base.Proxy(r); proxy != nil || err != nil {
		r = r.WithContext(ctx) // how near the proxy is says nothing
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := (&http.Client{Transport: knocking{w}, CheckRedirect: w.redirect}).Do(r)
	if err != nil {
		return nil, nil, public, err
	}
	_ = resp.Body.Close() // its head says it all
	if resp.StatusCode != http.StatusUnauthorized {
		return nil, nil, public, sentence(fmt.Sprintf("it does not ask you to sign in (it answered %d %s); see: cairn mcp test %s", resp.StatusCode, http.StatusText(resp.StatusCode), s.Name))
	}
	resp.Body = http.NoBody
	return r, resp, near, nil
}

// knocking sends a request as those of a connection are sent, and has a refusal come back
// as it is.
type knocking struct{ *web }

// RoundTrip implements [http.RoundTripper].
func (k knocking) RoundTrip(r *http.Request) (*http.Response, error) {
	if !k.ours(r.URL) {
		return nil, elsewhereError{r.URL.Host}
	}
	return k.base.RoundTrip(k.dressed(r.Context(), r, ""))
}

// unsigned says in a sentence why nobody was signed in.
func unsigned(w *wary, err error) string {
	var said sentence
	var refused *oauth2.RetrieveError
	var unregistered *oauthex.ClientRegistrationError
	var op *net.OpError
	var dns *net.DNSError
	why, found := w.seen()
	switch {
	case errors.As(err, &said):
		return string(said)
	case why != nil:
		return why.Error()
	case errors.As(err, &refused):
		return refusedWords(refused)
	case errors.As(err, &op), errors.As(err, &dns), errors.Is(err, context.DeadlineExceeded):
		return "where one signs in to it cannot be reached: " + plain(err)
	case !found:
		return "it does not say where one signs in to it; if it wants a key, set the header that it asks for, such as Authorization, in its headers"
	case errors.As(err, &unregistered):
		return "where one signs in to it this program is not registered" + saidWords(unregistered.ErrorCode, unregistered.ErrorDescription)
	case strings.Contains(err.Error(), "no configured client registration methods"):
		return "where one signs in to it no program is registered by itself; register one by hand, and set its client_id in the configuration of the server"
	}
	return "signing in failed: " + line(err.Error())
}
