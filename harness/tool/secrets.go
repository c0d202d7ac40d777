package tool

import (
	"net/url"
	"strings"
)

// SecretsOf returns the secrets of an environment, as [os.Environ] gives it, and
// more of them by name, for a [Redactor]. Secrets are the values of variables
// whose names say so, such as OPENAI_API_KEY, and addresses that hold a
// password, which also counts by itself, as "NAME password".
func SecretsOf(environ []string, more map[string]string) map[string]string {
	all := map[string]string{}
	for _, entry := range environ {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || value == "" {
			continue
		}
		password, found := passwordIn(value)
		if found {
			all[name+" password"] = password
		}
		if found || secretName(name) || connection(name, value) {
			all[name] = value
		}
	}
	for name, value := range more {
		all[name] = value
		if password, found := passwordIn(value); found {
			all[name+" password"] = password
		}
	}
	return all
}

// secretName reports whether the name of a variable says that its value is a
// secret.
func secretName(name string) bool {
	name = strings.ToUpper(name)
	for _, end := range []string{"_FILE", "_PATH", "_DIR", "_SOCK"} {
		if strings.HasSuffix(name, end) {
			return false // where it is, not what it is
		}
	}
	if name == "GOOGLE_APPLICATION_CREDENTIALS" {
		return false // a path, too
	}
	if rest, ok := strings.CutPrefix(name, "AWS_"); ok {
		for _, plain := range []string{"REGION", "PROFILE", "OUTPUT", "PAGER", "ENDPOINT_URL"} {
			if strings.HasSuffix(rest, plain) {
				return false
			}
		}
		return true
	}
	for _, part := range []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "APIKEY", "API_KEY", "ACCESS_KEY", "PRIVATE_KEY"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	for _, end := range []string{"_KEY", "_PASS", "_PWD", "_AUTH"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// connection reports whether a variable tells how to reach a database, with a
// password in a form that is no address.
func connection(name, value string) bool {
	name, value = strings.ToUpper(name), strings.ToLower(value)
	for _, part := range []string{"DATABASE_URL", "DSN", "CONNECTION_STRING", "CONN_STR"} {
		if strings.Contains(name, part) {
			return strings.Contains(value, "password=") || strings.Contains(value, "pwd=") || strings.Contains(value, "@")
		}
	}
	return false
}

// passwordIn returns the password in an address. The address is taken apart
// here because passwords are often not escaped as they should be.
func passwordIn(address string) (password string, found bool) {
	_, rest, ok := strings.Cut(address, "://")
	if !ok {
		return "", false
	}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	at := strings.LastIndexByte(rest, '@')
	if at < 0 {
		return "", false
	}
	_, password, ok = strings.Cut(rest[:at], ":")
	if !ok || password == "" {
		return "", false
	}
	if plain, err := url.PathUnescape(password); err == nil {
		password = plain
	}
	return password, true
}
