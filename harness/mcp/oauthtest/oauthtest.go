// Package oauthtest is an MCP server that one signs in to, over real HTTP, for tests: the
// server, and where one signs in, at one address.
package oauthtest

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Server is the server. Set its fields before anybody asks it something.
type Server struct {
	// URL is that of the MCP server, At what it begins with.
	URL, At string
	// Resource and Authority change what is told of the server and of where one signs in,
	// and Answer what the browser is sent back with.
	Resource, Authority func(map[string]any)
	Answer              func(url.Values)
	// Token changes the answer with a token.
	Token func(map[string]any)
	// Client is a client that was registered by hand, with Secret.
	Client, Secret string
	// Other, if set, answers a request in the place of the server; false leaves it alone.
	Other func(w http.ResponseWriter, r *http.Request) bool

	mu sync.Mutex
	// clients are those that are registered, with where their answers may go.
	clients map[string]string
	codes   map[string]url.Values
	// tokens are those that count, refreshes those that were not used yet.
	tokens, refreshes []string
	made, renewed     int
	asked             []url.Values
}

// New starts a server.
func New(t *testing.T) *Server {
	t.Helper()
	s := &Server{clients: map[string]string{}, codes: map[string]url.Values{}}
	behind := sdk.NewServer(&sdk.Implementation{Name: "signed", Title: "Signed", Version: "1"}, nil)
	behind.AddTool(&sdk.Tool{Name: "do", InputSchema: &jsonschema.Schema{Type: "object"}}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		// A server that repeats what it was sent.
		text := "done with " + r.Extra.Header.Get("Authorization")
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
	})
	mux := http.NewServeMux()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.Other == nil || !s.Other(w, r) {
			mux.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	s.At, s.URL = h.URL, h.URL+"/mcp"
	mcp := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return behind }, nil)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if s.counts(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")) {
			mcp.ServeHTTP(w, r)
			return
		}
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+s.At+`/.well-known/oauth-protected-resource/mcp", scope="read write"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		s.tell(w, http.StatusOK, map[string]any{"resource": s.URL, "authorization_servers": []string{s.At}}, s.Resource)
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		s.tell(w, http.StatusOK, map[string]any{
			"issuer": s.At, "authorization_endpoint": s.At + "/authorize", "token_endpoint": s.At + "/token", "registration_endpoint": s.At + "/register",
			"code_challenge_methods_supported": []string{"S256"}, "response_types_supported": []string{"code"},
			"authorization_response_iss_parameter_supported": true,
		}, s.Authority)
	})
	mux.HandleFunc("POST /register", s.register)
	mux.HandleFunc("GET /authorize", s.authorize)
	mux.HandleFunc("POST /token", s.token)
	return s
}

// tell answers with an object, once it is changed.
func (s *Server) tell(w http.ResponseWriter, code int, object map[string]any, change func(map[string]any)) {
	if change != nil {
		change(object)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object) // who does not read it notices
}

func (s *Server) counts(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.tokens, token)
}

// Revoke has no token count any more; with all, nobody renews one either.
func (s *Server) Revoke(all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens = nil
	if all {
		s.refreshes = nil
	}
}

// Renewed is how often a token was renewed.
func (s *Server) Renewed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.renewed
}

// Asked are the requests to sign in, as they came.
func (s *Server) Asked() []url.Values {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	var wanted struct {
		Redirects []string `json:"redirect_uris"`
	}
	if json.NewDecoder(r.Body).Decode(&wanted) != nil || len(wanted.Redirects) != 1 {
		s.tell(w, http.StatusBadRequest, map[string]any{"error": "invalid_redirect_uri", "error_description": "one\x1b[31m only"}, nil)
		return
	}
	s.mu.Lock()
	id := fmt.Sprintf("client-%d", len(s.clients)+1)
	s.clients[id] = wanted.Redirects[0]
	s.mu.Unlock()
	s.tell(w, http.StatusCreated, map[string]any{"client_id": id, "redirect_uris": wanted.Redirects, "token_endpoint_auth_method": "none"}, nil)
}

// authorize signs in whoever comes.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.mu.Lock()
	s.asked = append(s.asked, q)
	to, known := s.clients[q.Get("client_id")]
	if s.Client != "" && q.Get("client_id") == s.Client {
		to, known = q.Get("redirect_uri"), true
	}
	code := fmt.Sprintf("code-%d", len(s.codes)+1)
	s.codes[code] = q
	s.mu.Unlock()
	if !known || to != q.Get("redirect_uri") || q.Get("code_challenge_method") != "S256" || q.Get("resource") != s.URL {
		http.Error(w, "not to be signed in", http.StatusBadRequest)
		return
	}
	back := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {s.At}}
	if s.Answer != nil {
		s.Answer(back)
	}
	http.Redirect(w, r, to+"?"+back.Encode(), http.StatusFound)
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	ok := r.ParseForm() == nil
	switch id, secret, _ := r.BasicAuth(); {
	case !ok:
	case s.Client != "" && (r.Form.Get("client_id") == s.Client || id == s.Client):
		ok = r.Form.Get("client_secret") == s.Secret || secret == s.Secret
	default:
		_, ok = s.clients[r.Form.Get("client_id")]
	}
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		q, known := s.codes[r.Form.Get("code")]
		delete(s.codes, r.Form.Get("code"))
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		ok = ok && known && base64.RawURLEncoding.EncodeToString(sum[:]) == q.Get("code_challenge") && r.Form.Get("resource") == s.URL
	case "refresh_token":
		i := slices.Index(s.refreshes, r.Form.Get("refresh_token"))
		if ok = ok && i >= 0; ok {
			s.refreshes = slices.Delete(s.refreshes, i, i+1)
			s.tokens = nil
			s.renewed++
		}
	default:
		ok = false
	}
	if !ok {
		s.mu.Unlock()
		s.tell(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant", "error_description": "no\x1b[2Jmore"}, nil)
		return
	}
	s.made++
	token, refresh := fmt.Sprintf("secret-token-%d", s.made), fmt.Sprintf("secret-refresh-%d", s.made)
	s.tokens, s.refreshes = append(s.tokens, token), append(s.refreshes, refresh)
	s.mu.Unlock()
	s.tell(w, http.StatusOK, map[string]any{"access_token": token, "refresh_token": refresh, "token_type": "bearer", "expires_in": 3600}, s.Token)
}

// Sent is where a browser that opens an address is sent to.
func Sent(ctx context.Context, address string) (string, error) {
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	resp, err := c.Do(r)
	if err != nil {
		return "", err
	}
	return resp.Header.Get("Location"), resp.Body.Close()
}

// Open is a browser that opens an address.
func Open(ctx context.Context, address string) error {
	to, err := Sent(ctx, address)
	if err == nil && to != "" {
		_, err = Sent(ctx, to)
	}
	return err
}
