package mcp

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
)

// ErrConfig means that a [Server] is not configured as one can be.
var ErrConfig = errors.New("not a usable MCP server")

// maxPrefix bounds a prefix, in bytes: it leaves room for the names of tools.
const maxPrefix = 32

// Check says what is wrong with the configuration of a server, nil for nothing. The
// error wraps [ErrConfig], names the server and holds none of its secrets.
func Check(s Server) error {
	if why := wrong(s); why != "" {
		return fmt.Errorf("MCP server %.40q: %w: %s", s.Name, ErrConfig, why)
	}
	return nil
}

func wrong(s Server) string {
	for _, check := range []func(Server) string{wrongName, wrongWay, wrongProgram, wrongAddress, wrongOAuth, wrongPatterns, wrongTimes} {
		if why := check(s); why != "" {
			return why
		}
	}
	return ""
}

func wrongName(s Server) string {
	name := regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`)
	prefix := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)
	switch {
	case !name.MatchString(s.Name):
		return "a name has 1 to 32 characters of [A-Za-z0-9_-] and begins with a letter"
	case s.Prefix != "" && (len(s.Prefix) > maxPrefix || !prefix.MatchString(s.Prefix)):
		return fmt.Sprintf("a prefix has 1 to %d characters of [A-Za-z0-9_-] and begins with a letter or _", maxPrefix)
	}
	return ""
}

func wrongWay(s Server) string {
	switch {
	case s.Command == "" && s.URL == "":
		return "it needs a command to start or a url to connect to"
	case s.Command != "" && s.URL != "":
		return "it has a command and a url; only one of them can be"
	case s.URL != "" && (len(s.Args) > 0 || s.Dir != "" || len(s.Env) > 0):
		return "args, dir and env are for a server with a command, and it has a url"
	case s.Command != "" && len(s.Headers) > 0:
		return "headers are for a server with a url, and it has a command"
	}
	return ""
}

func wrongProgram(s Server) string {
	for _, text := range append([]string{s.Command, s.Dir}, s.Args...) {
		if strings.ContainsRune(text, 0) {
			return "its command, arguments and directory cannot hold a NUL character"
		}
	}
	for name, value := range s.Env {
		switch {
		case name == "" || strings.ContainsAny(name, "=\x00"):
			return fmt.Sprintf("%.40q is no name of an environment variable", name)
		case strings.ContainsRune(value, 0):
			return fmt.Sprintf("the value of %.40q holds a NUL character", name)
		}
	}
	return ""
}

func wrongAddress(s Server) string {
	if s.URL == "" {
		return ""
	}
	at, err := url.Parse(s.URL)
	switch {
	case err != nil:
		return "its url cannot be read" // the error would quote it
	case at.Scheme != "http" && at.Scheme != "https":
		return "its url must begin with http:// or https://"
	case at.Host == "" || at.Hostname() == "":
		return "its url names no host"
	case at.User != nil:
		return "its url holds a user or a password; give them as the header Authorization"
	case at.Fragment != "":
		return "its url has a part behind #, which no server gets"
	}
	return wrongHeaders(s)
}

// ownHeader reports whether a header is one that the protocol sets.
func ownHeader(name string) bool {
	switch strings.ToLower(name) {
	case "host", "content-length", "content-type", "accept", "connection", "transfer-encoding", "upgrade", "te", "trailer",
		"mcp-session-id", "mcp-protocol-version", "last-event-id":
		return true
	}
	return false
}

func wrongHeaders(s Server) string {
	name := regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$")
	for header, value := range s.Headers {
		switch {
		case !name.MatchString(header):
			return fmt.Sprintf("%.40q is no name of a header", header)
		case ownHeader(header):
			return fmt.Sprintf("the header %s is set by the protocol", header)
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			return fmt.Sprintf("the value of the header %s holds a line break or a control character", header)
		}
	}
	return ""
}

func wrongOAuth(s Server) string {
	o := s.OAuth
	odd := func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }
	switch {
	case o.Client == "" && o.Secret == "" && len(o.Scopes) == 0 && o.Port == 0:
		return ""
	case s.URL == "":
		return "client_id, client_secret, scopes and callback_port are for a server with a url, and it has a command"
	case o.Secret != "" && o.Client == "":
		return "it has a client_secret and no client_id that it belongs to"
	case strings.ContainsFunc(o.Client+o.Secret, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "its client_id or client_secret holds a line break or a control character"
	case o.Port < 0 || o.Port > 65535:
		return "its callback_port must be a number from 1 to 65535"
	}
	for _, scope := range o.Scopes {
		if scope == "" || strings.ContainsFunc(scope, odd) {
			return fmt.Sprintf("%.40q in scopes is no scope; each is one word", scope)
		}
	}
	return ""
}

func wrongPatterns(s Server) string {
	for _, list := range []struct {
		key      string
		patterns []string
	}{{"tools", s.Tools}, {"without", s.Without}, {"repeatable", s.Repeatable}} {
		for _, p := range list.patterns {
			if _, err := path.Match(p, "x"); err != nil || p == "" {
				return fmt.Sprintf("%.40q in %s is no pattern; write names of tools, with * and ? for anything", p, list.key)
			}
		}
	}
	return ""
}

func wrongTimes(s Server) string {
	if s.Timeout < 0 || s.Start < 0 {
		return "its times cannot be negative"
	}
	return ""
}
