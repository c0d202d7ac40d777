package sqljournal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"cairn/harness"
)

// versionsTable says which versions of the definitions were carried out. It is
// all that is needed to tell whether the rest can be read.
const versionsTable = `CREATE TABLE IF NOT EXISTS cairn_versions (
	version BIGINT PRIMARY KEY,
	definitions TEXT NOT NULL,
	made BIGINT NOT NULL
)`

// versions are the definitions by version, from 1. One that was released is
// never changed: its checksum is in every database.
func (d Dialect) versions() [][]string {
	typed := strings.NewReplacer("SERIAL_KEY", d.Serial, "BYTES", d.Blob)
	all := [][]string{{
		// A row is written with every entry, so what never changes is in begun. A
		// holder is there from a claim until its release; broken says that a driver
		// died and nobody has written since.
		`CREATE TABLE runs (
	number SERIAL_KEY,
	id TEXT NOT NULL UNIQUE,
	store TEXT NOT NULL,
	session TEXT NOT NULL,
	host TEXT NOT NULL,
	status TEXT NOT NULL,
	closed BIGINT NOT NULL,
	last_entry BIGINT NOT NULL,
	acknowledged BIGINT NOT NULL,
	updated BIGINT NOT NULL,
	asked TEXT NOT NULL,
	generation BIGINT NOT NULL,
	held BIGINT NOT NULL,
	broken BIGINT NOT NULL,
	held_until BIGINT NOT NULL,
	holder BYTES NOT NULL,
	state BYTES NOT NULL
)`,
		`CREATE INDEX runs_going ON runs (number) WHERE status = 'running'`,
		`CREATE INDEX runs_of_session ON runs (store, session, number)`,
		`CREATE INDEX runs_closed ON runs (number) WHERE closed = 1`,
		`CREATE TABLE begun (
	run TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
	data BYTES NOT NULL
)`,
		`CREATE TABLE entries (
	run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
	seq BIGINT NOT NULL,
	data BYTES NOT NULL,
	PRIMARY KEY (run, seq)
)`,
		`CREATE TABLE partials (
	run TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
	data BYTES NOT NULL
)`,
		`CREATE TABLE carried (
	run TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
	data BYTES NOT NULL
)`,
		`CREATE TABLE artifacts (
	run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
	name TEXT NOT NULL,
	data BYTES NOT NULL,
	PRIMARY KEY (run, name)
)`,
		`CREATE TABLE refusals (
	run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
	reason TEXT NOT NULL,
	at BIGINT NOT NULL,
	PRIMARY KEY (run, reason)
)`,
	}}
	for _, statements := range all {
		for i, s := range statements {
			statements[i] = typed.Replace(s)
		}
	}
	return all
}

// checksum names definitions by what they are.
func checksum(statements []string) string {
	sum := sha256.Sum256([]byte(strings.Join(statements, ";\n")))
	return hex.EncodeToString(sum[:])
}

// Schema is the version of the tables: those of an older program were brought to it
// when the queue was opened.
func (q *Queue) Schema() int { return q.dialect.Versions() }

// Versions is the number of the last version of the definitions.
func (d Dialect) Versions() int { return len(d.versions()) }

// Migrate brings the definitions up to date, within one transaction that only
// one process has at a time. A database that a newer cairn made is
// [harness.ErrNewer], one whose definitions are not cairn's [harness.ErrForeign].
func (q *Queue) Migrate(ctx context.Context, tx Tx) error {
	if _, err := tx.Exec(ctx, versionsTable); err != nil {
		return fmt.Errorf("make the table of versions: %w", err)
	}
	made, err := q.Check(ctx, tx)
	if err != nil {
		return err
	}
	for i, statements := range q.dialect.versions()[made:] {
		for _, s := range statements {
			if _, err := tx.Exec(ctx, s); err != nil {
				return fmt.Errorf("make version %d of the tables: %w", made+i+1, err)
			}
		}
		if _, err := q.exec(ctx, tx, `INSERT INTO cairn_versions (version, definitions, made) VALUES (?, ?, ?)`,
			int64(made+i+1), checksum(statements), q.now().UnixMicro()); err != nil {
			return fmt.Errorf("note version %d of the tables: %w", made+i+1, err)
		}
	}
	return nil
}

// Check returns which version of the definitions a database has that has a
// table of versions; the errors are those of Migrate.
func (q *Queue) Check(ctx context.Context, tx Tx) (made int, err error) {
	known := q.dialect.versions()
	err = q.each(ctx, tx, `SELECT version, definitions FROM cairn_versions ORDER BY version`, nil, func(rows Rows) error {
		var version int64
		var definitions string
		if err := rows.Scan(&version, &definitions); err != nil {
			return err
		}
		switch made++; {
		case version > int64(len(known)):
			return fmt.Errorf("it has version %d of the tables and this program knows %d: use the newer program: %w", version, len(known), harness.ErrNewer)
		case version != int64(made) || definitions != checksum(known[made-1]):
			return fmt.Errorf("version %d of its tables is not as cairn makes it; name another place for the runs: %w", version, harness.ErrForeign)
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("read the versions of the tables: %w", err)
	}
	return made, nil
}
