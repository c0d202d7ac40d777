package run

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
)

// Kind is a kind of engine.
type Kind string

// The kinds. The first keeps runs in the store of the conversations.
const (
	KindBbolt    Kind = "bbolt"
	KindSQLite   Kind = "sqlite"
	KindPostgres Kind = "postgres"
	KindTemporal Kind = "temporal"
)

// ErrAddress means that a text names no engine; the error's text says what to
// write instead.
var ErrAddress = errors.New("not an engine")

// Address says which engine keeps runs.
type Address struct {
	Kind Kind
	// Text is the whole address as it is opened. It may hold a password: it is
	// neither stored nor shown.
	Text string
	// Name is the address without user and password, in one spelling: what is
	// stored of a run and shown. It is an address, too, and its own name.
	Name string
}

// ParseAddress reads bbolt, sqlite:PATH, postgres://USER:PASSWORD@HOST:PORT/DATABASE
// or temporal://HOST:PORT/NAMESPACE. Its errors never repeat the text, which may
// hold a password.
func ParseAddress(text string) (Address, error) {
	if text == string(KindBbolt) {
		return Address{Kind: KindBbolt, Text: text, Name: text}, nil
	}
	if path, ok := strings.CutPrefix(text, string(KindSQLite)+":"); ok {
		return sqliteAddress(path)
	}
	u, err := url.Parse(text)
	if err != nil {
		return Address{}, fmt.Errorf("%w: the address cannot be read; write %s (characters such as @ or / in a password are written %%40 and %%2F)", ErrAddress, forms)
	}
	switch u.Scheme {
	case "postgres", "postgresql":
		return serverAddress(KindPostgres, u, "5432", "database")
	case string(KindTemporal):
		return serverAddress(KindTemporal, u, "7233", "namespace")
	case "":
		return Address{}, fmt.Errorf("%w: write %s", ErrAddress, forms)
	default:
		return Address{}, fmt.Errorf("%w: there is none for %q; write %s", ErrAddress, u.Scheme+":", forms)
	}
}

// forms are the addresses that there are, for messages.
const forms = "bbolt, sqlite:PATH, postgres://HOST/DATABASE or temporal://HOST:PORT/NAMESPACE"

func sqliteAddress(path string) (Address, error) {
	if strings.TrimLeft(path, "/") == "" || strings.ContainsRune(path, 0) {
		return Address{}, fmt.Errorf("%w: sqlite: needs the path of a file, such as sqlite:/home/ada/runs.db", ErrAddress)
	}
	if strings.HasPrefix(path, "///") {
		path = path[2:] // sqlite:///path is how others write it
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return Address{}, fmt.Errorf("%w: the path of sqlite: %w", ErrAddress, err)
	}
	text := string(KindSQLite) + ":" + abs
	return Address{Kind: KindSQLite, Text: text, Name: text}, nil
}

func serverAddress(kind Kind, u *url.URL, port, path string) (Address, error) {
	host, socket := u.Host, ""
	if u.Hostname() == "" {
		socket = u.Query().Get("host") // the directory of a socket
		if socket == "" {
			return Address{}, fmt.Errorf("%w: %s:// names no host", ErrAddress, kind)
		}
	} else if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), cmp.Or(u.Query().Get("port"), port))
	}
	name := strings.Trim(u.Path, "/")
	switch {
	case strings.Contains(name, "/"):
		return Address{}, fmt.Errorf("%w: %s:// has more than a %s behind the host", ErrAddress, kind, path)
	case strings.ContainsAny(name, "&="): // a setting may be a password, and the name is shown
		return Address{}, fmt.Errorf("%w: %s:// has settings in the name of the %s; the first one follows a ?, others a &", ErrAddress, kind, path)
	case name == "" && kind == KindTemporal:
		name = "default"
	case name == "":
		return Address{}, fmt.Errorf("%w: %s:// names no %s: write postgres://HOST/DATABASE", ErrAddress, kind, path)
	}
	shown, settings := string(kind)+"://"+host+"/"+name, []string(nil)
	if socket != "" {
		shown = string(kind) + ":///" + name
		settings = append(settings, "host="+strings.ReplaceAll(url.QueryEscape(socket), "%2F", "/"))
		if p := cmp.Or(u.Port(), u.Query().Get("port"), port); p != port {
			settings = append(settings, "port="+url.QueryEscape(p))
		}
	}
	if schema := u.Query().Get("schema"); kind == KindPostgres && schema != "" {
		settings = append(settings, "schema="+url.QueryEscape(schema))
	}
	if len(settings) > 0 {
		shown += "?" + strings.Join(settings, "&")
	}
	return Address{Kind: kind, Text: u.String(), Name: shown}, nil
}
