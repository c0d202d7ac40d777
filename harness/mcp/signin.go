package mcp

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"cairn/harness/tool"
)

const (
	// early is how long before its end a token is taken for one that ran out: it has to
	// last until the server reads it.
	early = 10 * time.Second
	// maxToken bounds a token, in bytes.
	maxToken = 64 << 10
)

// SignIn is what a person got by signing in to a server with OAuth, see [Login]. All of
// it is secret.
type SignIn struct {
	// URL is the address of the server that gave it. No other gets it.
	URL string `json:"url"`
	// Token says who asks, with each request, until Expires, which is zero where nobody
	// knows. With Refresh the next one is had; without it the person signs in again.
	Token   string    `json:"token"`
	Refresh string    `json:"refresh,omitempty"`
	Expires time.Time `json:"expires,omitzero"`
	// TokenURL is where the next token is had, Client and Secret are who this program is
	// there, and Style is how it says so, as in [oauth2.AuthStyle].
	TokenURL string `json:"token_url,omitempty"`
	Client   string `json:"client,omitempty"`
	Secret   string `json:"secret,omitempty"`
	Style    int    `json:"style,omitempty"`
}

// None reports whether it is none.
func (s SignIn) None() bool { return s.Token == "" }

// over reports whether its token ran out.
func (s SignIn) over(now time.Time) bool {
	return !s.Expires.IsZero() && !now.Add(early).Before(s.Expires)
}

// SignIns keeps what people got by signing in to servers, by the names of these. It is
// safe for concurrent use.
type SignIns interface {
	// Load returns what is kept for a server, one that is [SignIn.None] for nothing. What
	// another process kept counts at once.
	Load(ctx context.Context, server string) (SignIn, error)
	// Change keeps what change makes of what is kept right then; one that is
	// [SignIn.None] is forgotten. No other change of that server, be it of another
	// process, comes between: a server may take a refresh token once only. change may take
	// as long as a request does. Its error changes nothing and is returned.
	Change(ctx context.Context, server string, change func(SignIn) (SignIn, error)) error
}

// signable reports whether a server is one that is signed in to: one with an address,
// and without credentials in its configuration.
func signable(s Server) bool {
	if s.URL == "" {
		return false
	}
	for name := range s.Headers {
		if credential(name) {
			return false
		}
	}
	return true
}

// signInError is a server that wants the person to sign in.
type signInError struct {
	server string
	// had says that there was a sign-in, which counts no more; offered that the server
	// says where one signs in.
	had, offered bool
}

func (e signInError) Error() string {
	switch {
	case e.had:
		return "the sign-in to it has ended (401 Unauthorized); sign in again: cairn mcp login " + e.server
	case e.offered:
		return "it wants you to sign in (401 Unauthorized); run: cairn mcp login " + e.server
	}
	return "it wants you to sign in (401 Unauthorized); run: cairn mcp login " + e.server +
		"; if it wants a key instead, set the header that it asks for, such as Authorization, in its headers"
}

// signed has the token of a server for its requests, and renews it.
type signed struct {
	name, url string
	kept      SignIns
	now       func() time.Time
	// learned gets each sign-in that becomes known, and told what went wrong besides.
	learned func(SignIn)
	told    func(text string)
	// turn is held by whoever reads or renews it.
	turn chan struct{}

	mu   sync.Mutex
	have SignIn
	// ended says that one was kept that counts no more.
	ended bool
}

func newSigned(s Server, o Options, redact *tool.Redactor, told func(string)) *signed {
	if o.SignIns == nil || !signable(s) {
		return nil
	}
	var before SignIn
	return &signed{
		name: s.Name, url: s.URL, kept: o.SignIns, now: o.Now, told: told, turn: make(chan struct{}, 1),
		learned: func(in SignIn) {
			redact.Add("token", in.Token)
			redact.Add("refresh token", in.Refresh)
			redact.Add("client secret", in.Secret)
			if before.Token != in.Token { // what is under way may still tell of the one before
				redact.Add("token before", before.Token)
				redact.Add("refresh token before", before.Refresh)
				before = in
			}
		},
	}
}

// has is the sign-in that is known.
func (g *signed) has() SignIn {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.have
}

// take notes a sign-in. The caller holds the turn.
func (g *signed) take(in SignIn) {
	g.mu.Lock()
	changed := in != g.have
	g.have = in
	g.ended = g.ended && in.None()
	g.mu.Unlock()
	if changed && !in.None() {
		g.learned(in)
	}
}

// alone has one at a time do something.
func (g *signed) alone(ctx context.Context, do func() error) error {
	select {
	case g.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-g.turn }()
	return do()
}

// token is what is sent with a request, empty if the person is not signed in.
func (g *signed) token(ctx context.Context) (string, error) {
	if in := g.has(); !in.None() && !in.over(g.now()) {
		return in.Token, nil
	}
	err := g.alone(ctx, func() error { return g.load(ctx) })
	if in := g.has(); err != nil || in.None() || !in.over(g.now()) {
		return in.Token, err
	}
	return g.next(ctx, g.has().Token)
}

// load reads what is kept. Another server's is none. The caller holds the turn.
func (g *signed) load(ctx context.Context) error {
	in, err := g.kept.Load(ctx, g.name)
	if err != nil {
		return sentence("the sign-in to it cannot be read: " + line(err.Error()))
	}
	if in.URL != g.url {
		in = SignIn{}
	}
	g.take(in)
	return nil
}

// next is the token that comes after one that counts no more, empty if there is none.
// Whoever else renewed it, in this process or in another, did so for all.
func (g *signed) next(ctx context.Context, used string) (string, error) {
	err := g.alone(ctx, func() error {
		if in := g.has(); in.Token != used && !in.None() && !in.over(g.now()) {
			return nil
		}
		if err := g.load(ctx); err != nil {
			return err
		}
		if in := g.has(); in.None() || in.Token != used && !in.over(g.now()) {
			return nil
		}
		return g.renew(ctx, used)
	})
	if in := g.has(); err == nil && in.Token != used {
		return in.Token, nil
	}
	return "", err
}

// renew gets another token with the refresh token. The caller holds the turn.
func (g *signed) renew(ctx context.Context, used string) error {
	var got SignIn
	var ended bool
	err := g.kept.Change(ctx, g.name, func(in SignIn) (SignIn, error) {
		switch {
		case in.URL != g.url || in.None():
			return in, nil
		case in.Token != used && !in.over(g.now()):
			got = in // another process was faster
			return in, nil
		case in.Refresh == "":
			got, ended = in, true
			return in, nil
		}
		next, err := refreshed(ctx, in)
		var refused *oauth2.RetrieveError
		switch {
		case errors.As(err, &refused) && (refused.ErrorCode == "invalid_grant" || refused.ErrorCode == "invalid_client"):
			ended = true
			return SignIn{}, nil
		case err != nil:
			return in, err
		}
		got = next
		return next, nil
	})
	if !got.None() && !ended {
		g.take(got)
		if err != nil { // it holds for this process all the same
			g.told("the renewed sign-in cannot be kept: " + line(err.Error()))
		}
		return nil
	}
	if err != nil {
		return renewError{err}
	}
	g.take(SignIn{})
	g.mu.Lock()
	g.ended = ended
	g.mu.Unlock()
	return nil
}

// wanted is a server's answer that the person has to sign in.
func (g *signed) wanted(h http.Header) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return signInError{server: g.name, had: g.ended, offered: signs(h)}
}

// renewError is a token that could not be renewed now. It may go better later.
type renewError struct{ error }

func (e renewError) Error() string {
	return "the sign-in to it cannot be renewed now: " + plain(e.error)
}

func (e renewError) Unwrap() error { return e.error }

// refreshed is a sign-in with another token.
func refreshed(ctx context.Context, in SignIn) (SignIn, error) {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	c := oauth2.Config{
		ClientID: in.Client, ClientSecret: in.Secret,
		Endpoint: oauth2.Endpoint{TokenURL: in.TokenURL, AuthStyle: oauth2.AuthStyle(in.Style)},
	}
	// Where to ask was looked at when it was kept.
	w := &wary{near: loopback}
	t, err := c.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, w.client()), &oauth2.Token{RefreshToken: in.Refresh}).Token()
	if err != nil {
		return in, err
	}
	if err := usableToken(t); err != nil {
		return in, err
	}
	in.Token, in.Refresh, in.Expires = t.AccessToken, t.RefreshToken, t.Expiry
	return in, nil
}

// usableToken says why a token cannot be sent.
func usableToken(t *oauth2.Token) error {
	odd := func(r rune) bool { return r <= ' ' || r > '~' }
	switch {
	case !strings.EqualFold(t.Type(), "Bearer"):
		return sentence("the server gives tokens of a kind that is not known here: " + line(t.TokenType))
	case len(t.AccessToken) > maxToken || len(t.RefreshToken) > maxToken:
		return sentence("the server gives tokens that are longer than any token")
	case strings.ContainsFunc(t.AccessToken, odd) || strings.ContainsFunc(t.RefreshToken, odd):
		return sentence("the server gives tokens with characters in them that no token has")
	}
	return nil
}

// signs reports whether a refusal says where one signs in.
func signs(h http.Header) bool {
	for _, v := range h.Values("WWW-Authenticate") {
		if strings.Contains(strings.ToLower(v), "resource_metadata") {
			return true
		}
	}
	return false
}
