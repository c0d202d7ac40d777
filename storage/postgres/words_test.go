package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"cairn/harness/run"
	"cairn/storage/postgres"
	"cairn/storage/postgres/pgtest"
)

const password = "hunter2/@ geheim"

// tells fails the test unless err says all of want and nothing of the password.
func tells(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	var logged strings.Builder
	slog.New(slog.NewJSONHandler(&logged, nil)).Error("failed", slog.Any("error", err))
	for _, text := range []string{err.Error(), fmt.Sprintf("%+v", err), logged.String()} {
		for _, secret := range []string{"hunter2", "geheim", url.QueryEscape(password)} {
			if strings.Contains(text, secret) {
				t.Errorf("%q has the password in it", text)
			}
		}
	}
	for _, part := range want {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	if strings.ContainsAny(err.Error(), "\n\t") {
		t.Errorf("%q is not one line", err)
	}
}

func TestAddressesThatAreNoneAreToldWithoutPassword(t *testing.T) {
	t.Parallel()
	secret := url.UserPassword("ada", password).String()
	for name, c := range map[string]struct{ address, want string }{
		"another engine":  {"temporal://" + secret + "@host/default", "none of PostgreSQL"},
		"no database":     {"postgres://" + secret + "@host", "names no database"},
		"port":            {"postgres://" + secret + "@host:port/db", "cannot be read"},
		"large port":      {"postgres://" + secret + "@host:99999/db", "port"},
		"raw password":    {"postgres://ada:" + password + "@host/db", "cannot be read"},
		"TLS mode":        {"postgres://" + secret + "@host/db?sslmode=often", "sslmode"},
		"pool":            {"postgres://" + secret + "@host/db?pool_max_conns=many", "pool_max_conns"},
		"password as one": {"postgres://" + secret + "@host/db?pool_max_conns=" + url.QueryEscape(password), "pool_max_conns"},
		"the same":        {"postgres://ada:abc@host/db?sslmode=verify-full&sslrootcert=/abc", "does not take"},
		"no such file":    {"postgres://" + secret + "@host/db?sslmode=verify-full&sslrootcert=/no/such/file", "no such file"},
		"broken query":    {"postgres://" + secret + "@host/db?a=%zz", "cannot be read"},
		"empty schema":    {"postgres://" + secret + "@host/db?schema=", "schema=NAME"},
		"long schema":     {"postgres://" + secret + "@host/db?schema=" + strings.Repeat("ä", 32), "64 bytes"},
		"system schema":   {"postgres://" + secret + "@host/db?schema=pg_cairn", "another name"},
		"NUL in schema":   {"postgres://" + secret + "@host/db?schema=a%00b", "no text"},
		"bytes in schema": {"postgres://" + secret + "@host/db?schema=%ff", "no text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := postgres.Open(t.Context(), c.address, postgres.Options{})
			tells(t, err, c.want)
			if !errors.Is(err, run.ErrAddress) {
				t.Errorf("%v is not ErrAddress", err)
			}
		})
	}
	_, err := postgres.Open(t.Context(), "postgres://"+secret+"@host/db", postgres.Options{Lease: 1})
	tells(t, err, "too short")
}

func TestServersThatCannotBeReachedAreToldWithoutPassword(t *testing.T) {
	t.Parallel()
	secret := url.UserPassword("ada", password).String()
	closed, silent, chatty := listen(t), listen(t), listen(t)
	hangUp(closed)
	go answerAll(chatty, "HTTP/1.1 400 Bad Request\r\n\r\n")
	for name, c := range map[string]struct{ address, want string }{
		"nobody listens": {"postgres://" + secret + "@" + closed.Addr().String() + "/db", "nothing listens at " + closed.Addr().String()},
		"no such host":   {"postgres://" + secret + "@no-such-host.invalid/db", "no-such-host.invalid"},
		"no such socket": {"postgres://" + secret + "@/db?host=" + t.TempDir(), "no PostgreSQL has a socket"},
		"silent":         {"postgres://" + secret + "@" + silent.Addr().String() + "/db?connect_timeout=1", "did not answer in time"},
		"something else": {"postgres://" + secret + "@" + chatty.Addr().String() + "/db?sslmode=disable", "look whether that is what answers there"},
		"no such thing":  {"postgres://" + secret + "@" + chatty.Addr().String() + "/db?sslmode=require", chatty.Addr().String()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := postgres.Open(t.Context(), c.address, postgres.Options{})
			tells(t, err, c.want)
		})
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hangUp(l) })
	return l
}

func answerAll(l net.Listener, text string) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = conn.Read(make([]byte, 100))
		_, _ = conn.Write([]byte(text))
		hangUp(conn)
	}
}

func TestServersThatLetNobodyInAreToldWithoutPassword(t *testing.T) {
	t.Parallel()
	s := pgtest.Alone(t)
	for _, statement := range []string{
		"CREATE ROLE ada LOGIN PASSWORD 'another'", "CREATE ROLE eve LOGIN", "CREATE ROLE bob LOGIN", "CREATE ROLE many LOGIN CONNECTION LIMIT 0", "CREATE DATABASE db",
	} {
		admin(t, s.URL("postgres"), statement)
	}
	rules := "local all ada scram-sha-256\nlocal all eve reject\nlocal all all trust\n"
	if err := os.WriteFile(filepath.Join(s.Dir(), "data", "pg_hba.conf"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	admin(t, s.URL("postgres"), "SELECT pg_reload_conf()")
	_, way := newProxy(t, s.URL("db"))
	at, err := url.Parse(way)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		user, database, query string
		want                  []string
	}{
		"a wrong password":  {"ada", "db", "", []string{`refuses user "ada"`, "password in the address"}},
		"a user kept out":   {"eve", "db", "", []string{`does not let user "eve" in`, "pg_hba.conf"}},
		"an unknown user":   {"nobody", "db", "", []string{`does not let user "nobody" in`}},
		"no such database":  {"bob", "nowhere", "", []string{`has no database "nowhere"`, "createdb"}},
		"too many":          {"many", "db", "", []string{"takes no more connections"}},
		"no right to make":  {"bob", "db", "", []string{`user "bob" may not`, "CREATE SCHEMA"}},
		"no encryption":     {"bob", "db", "sslmode=require", []string{"sslmode=disable"}},
		"an unknown option": {"bob", "db", "no_such_option=1", []string{"no_such_option"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := url.URL{Scheme: "postgres", User: url.UserPassword(c.user, password), Host: at.Host, Path: "/" + c.database, RawQuery: c.query}
			if c.query == "" {
				u.RawQuery = "sslmode=disable"
			}
			_, err := postgres.Open(t.Context(), u.String(), postgres.Options{})
			tells(t, err, append(c.want, at.Host)...)
		})
	}
}

// admin runs a statement of the test itself.
func admin(tb testing.TB, address, statement string, args ...any) {
	tb.Helper()
	ctx := context.WithoutCancel(tb.Context())
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() {
		if err := conn.Close(ctx); err != nil {
			tb.Error(err)
		}
	}()
	if _, err := conn.Exec(ctx, statement, args...); err != nil {
		tb.Fatalf("%s: %v", statement, err)
	}
}

// query reads one value for the test itself.
func query(tb testing.TB, address, statement string, dest any) {
	tb.Helper()
	ctx := context.WithoutCancel(tb.Context())
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() {
		if err := conn.Close(ctx); err != nil {
			tb.Error(err)
		}
	}()
	if err := conn.QueryRow(ctx, statement).Scan(dest); err != nil {
		tb.Fatalf("%s: %v", statement, err)
	}
}
