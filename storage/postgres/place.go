package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"cairn/harness/run"
)

const (
	// schemaKey names the schema in an address.
	schemaKey = "schema"
	// defaultSchema is used if it does not.
	defaultSchema = "cairn"
	// identifierLength bounds a name in PostgreSQL, in bytes.
	identifierLength = 63
)

// place is where the runs are, in words that hold no password.
type place struct {
	// name is the address without user and password.
	name string
	// server is the host and port or the directory of a socket.
	server, user, database, schema string
}

// quoted is the schema as it is written in a statement.
func (p place) quoted() string { return pgx.Identifier{p.schema}.Sanitize() }

// channel is what changes in the schema are told on. Its name is short whatever
// that of the schema is.
func (p place) channel() string {
	sum := sha256.Sum256([]byte(p.schema))
	return "cairn_" + hex.EncodeToString(sum[:8])
}

// parse reads an address. Its errors hold no part of one that may be a password.
func parse(address string) (place, *pgxpool.Config, error) {
	a, err := run.ParseAddress(address)
	if err != nil {
		return place{}, nil, err
	}
	if a.Kind != run.KindPostgres {
		return place{}, nil, fmt.Errorf("%w: %s is none of PostgreSQL", run.ErrAddress, a.Name)
	}
	p := place{name: a.Name, schema: defaultSchema}
	u, err := url.Parse(a.Text)
	if err != nil {
		return p, nil, fmt.Errorf("%w: the address of PostgreSQL cannot be read", run.ErrAddress)
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return p, nil, fmt.Errorf("%w: what is behind the ? of %s cannot be read", run.ErrAddress, p.name)
	}
	if query.Has(schemaKey) {
		p.schema = query.Get(schemaKey)
	}
	if err := checkSchema(p.schema); err != nil {
		return p, nil, err
	}
	// The server would not know it. The rest is left as it is: pgx reads a plus as
	// a plus.
	u.RawQuery = strings.Join(slices.DeleteFunc(strings.Split(u.RawQuery, "&"), func(pair string) bool {
		key, _, _ := strings.Cut(pair, "=")
		return key == schemaKey
	}), "&")
	config, err := pgxpool.ParseConfig(u.String())
	if err != nil {
		return p, nil, p.unreadable(err, u, query)
	}
	c := config.ConnConfig
	p.user, p.database = c.User, c.Database
	if p.server = fmt.Sprintf("%s:%d", c.Host, c.Port); strings.HasPrefix(c.Host, "/") {
		p.server = c.Host
	}
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "cairn"
	}
	if !query.Has("connect_timeout") && os.Getenv("PGCONNECT_TIMEOUT") == "" {
		c.ConnectTimeout = connectTime
	}
	if !query.Has("pool_max_conns") {
		config.MaxConns = maxConnections
	}
	if !query.Has("pool_ping_timeout") {
		config.PingTimeout = pingTime
	}
	config.AfterConnect = p.settle
	return p, config, nil
}

// settle has a new connection find the tables, and its commits wait for the disk
// where the database is set up not to. It is no setting to connect with: pools in
// front of a server refuse those that they do not know.
func (p place) settle(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `SELECT set_config('search_path', $1, false),
		CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END`, p.quoted())
	return err
}

func checkSchema(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: schema= is empty: write schema=NAME or leave it out", run.ErrAddress)
	case len(name) > identifierLength:
		return fmt.Errorf("%w: the name of the schema has %d bytes, and PostgreSQL takes %d", run.ErrAddress, len(name), identifierLength)
	case !utf8.ValidString(name) || strings.ContainsRune(name, 0):
		return fmt.Errorf("%w: the name of the schema is no text", run.ErrAddress)
	case strings.HasPrefix(name, "pg_"):
		return fmt.Errorf("%w: PostgreSQL keeps schemas that begin with pg_ for itself: use another name", run.ErrAddress)
	}
	return nil
}

// unreadable says why an address is none, in the words of the library unless the
// password may be in them.
func (p place) unreadable(err error, u *url.URL, query url.Values) error {
	secrets := []string{os.Getenv("PGPASSWORD"), query.Get("password"), query.Get("sslpassword")}
	if secret, ok := u.User.Password(); ok {
		secrets = append(secrets, secret, url.QueryEscape(secret), url.PathEscape(secret))
	}
	_, why, found := strings.Cut(err.Error(), "`: ") // the address is between back quotes
	// It names the setting. A value that is no number may be a password that went
	// astray.
	why, _, _ = strings.Cut(why, " (strconv.")
	for _, secret := range secrets {
		found = found && (secret == "" || !strings.Contains(why, secret))
	}
	if !found {
		return fmt.Errorf("%w: %s has a setting that PostgreSQL does not take", run.ErrAddress, p.name)
	}
	return fmt.Errorf("%w: %s: %s", run.ErrAddress, p.name, why)
}
