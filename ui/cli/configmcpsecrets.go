package cli

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"cairn/harness/mcp"
	"cairn/harness/tool"
)

// minToken is the length from which a text that is letters and digits alone, mixed,
// is taken for a token.
const minToken = 16

// tokenLike reports whether a text looks like a token: long, without spaces and
// slashes, of letters and digits.
func tokenLike(text string) bool {
	letters, digits := 0, 0
	for _, r := range text {
		switch {
		case r > unicode.MaxASCII, unicode.IsSpace(r), r == '/', r == '\\':
			return false
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r):
			digits++
		}
	}
	return len(text) >= minToken && letters > 0 && digits > 0
}

// secretNamed reports whether a name says that its value is a secret, as that of a
// variable of the environment, an option of a program or a part of an address.
func secretNamed(name string) bool {
	name = strings.ReplaceAll(strings.TrimLeft(name, "-"), "-", "_")
	switch strings.ToUpper(name) {
	case "KEY", "TOKEN", "AUTH", "SIG", "SIGNATURE", "CODE", "PASS", "PWD":
		return true
	}
	_, secret := tool.SecretsOf([]string{name + "=x"}, nil)[name]
	return secret
}

// plainHeader reports whether a header is one that holds no secret.
func plainHeader(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "accept") || name == "user-agent"
}

// secretsOfServer are the secrets that a server is configured with, by what they are
// called. A value that is a common word would be struck out of every text, so of
// the environment only those count that are named or look like secrets.
func secretsOfServer(s mcp.Server) map[string]string {
	all, at := map[string]string{}, keyMCP+".servers."+s.Name+"."
	for name, value := range s.Env {
		if secretNamed(name) || tokenLike(value) {
			all[at+"env."+name] = value
		}
		for found, password := range tool.SecretsOf([]string{at + "env." + name + "=" + value}, nil) {
			all[found] = password
		}
	}
	for name, value := range s.Headers {
		if plainHeader(name) {
			continue
		}
		all[at+"headers."+name] = value
		scheme, credentials, ok := strings.Cut(value, " ")
		if !ok {
			continue
		}
		all[at+"headers."+name+" "+scheme] = credentials
		if plain, err := base64.StdEncoding.DecodeString(credentials); err == nil && strings.EqualFold(scheme, "basic") {
			if _, password, ok := strings.Cut(string(plain), ":"); ok {
				all[at+"headers."+name+" password"] = password
			}
		}
	}
	if s.OAuth.Secret != "" {
		all[at+"client_secret"] = s.OAuth.Secret
	}
	secretsInArgs(s.Args, func(name, value string) { all[at+"args "+name] = value })
	secretsInURL(s.URL, func(name, value string) { all[at+"url "+name] = value })
	return all
}

// secretsInURL finds the parts of an address that are secrets.
func secretsInURL(address string, found func(name, value string)) {
	u, err := url.Parse(address)
	if err != nil {
		return
	}
	for name, values := range u.Query() {
		for _, v := range values {
			if secretNamed(name) || tokenLike(v) {
				found(name, v)
			}
		}
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		if tokenLike(segment) {
			found("path", segment)
		}
	}
}

// secretsInArgs finds the values of options of a program that are secrets. What only
// refers to a variable is none, whoever fills it in.
func secretsInArgs(args []string, found func(name, value string)) {
	for i := range args {
		_, name, values, _ := mcp.SecretArg(args, i, secretNamed)
		for n, value := range values {
			switch {
			case reference.MatchString(value) && len(reference.ReplaceAllString(value, "")) < minToken:
			case n > 0:
				found(fmt.Sprintf("%s (%d)", name, n), value)
			default:
				found(name, value)
			}
		}
	}
}

// shownArgs are arguments without the secrets among them.
func shownArgs(args []string) []string {
	shown := make([]string, len(args))
	for i := range args {
		text, _, _, secret := mcp.SecretArg(args, i, secretNamed)
		if secret {
			text = strings.Replace(text, "…", "(set)", 1)
		}
		shown[i] = text
	}
	return shown
}

// shownURL is an address without what of it may be a secret.
func shownURL(address string) string {
	address, query, more := strings.Cut(address, "?")
	if strings.Contains(address, "@") {
		address = withoutUser(address)
	}
	parts := strings.Split(address, "/")
	for i, p := range parts {
		if i > 2 && tokenLike(p) && !refersOnly(p) {
			parts[i] = "(set)"
		}
	}
	address = strings.Join(parts, "/")
	if more && query != "" {
		address += "?(set)"
	}
	return address
}

// literal are the secrets of a server that stand in the file itself, by their names.
func (t mcpServerTable) literal() []string {
	var all []string
	plain := t.server("x")
	for _, values := range []*map[string]string{&plain.Env, &plain.Headers} {
		kept := map[string]string{}
		for k, v := range *values {
			// What is left of a header without its references is its scheme.
			if reference.MatchString(v) && len(reference.ReplaceAllString(v, "")) < minToken {
				continue
			}
			kept[k] = v
		}
		*values = kept
	}
	if reference.MatchString(plain.OAuth.Secret) && len(reference.ReplaceAllString(plain.OAuth.Secret, "")) < minToken {
		plain.OAuth.Secret = ""
	}
	plain.URL = anyAddress(plain.URL)
	for name, value := range secretsOfServer(plain) {
		if strings.HasPrefix(name, keyMCP+".servers.x.args ") && strings.HasSuffix(name, ")") {
			continue // another form of the one before
		}
		if strings.Contains(name, ".url ") && strings.Trim(value, "x") == "" { // nothing but references
			continue
		}
		all = append(all, strings.TrimPrefix(name, keyMCP+".servers.x."))
	}
	return all
}
