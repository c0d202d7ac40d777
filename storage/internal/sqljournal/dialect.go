// Package sqljournal is a queue of runs in a relational database, written once
// for all of them. The one thing to know: every write of a driver names the
// generation of its claim and checks it in its own transaction, so a driver that
// lost a run writes nothing, however late it wakes.
package sqljournal

import (
	"context"
	"strconv"
	"strings"

	"cairn/harness"
)

// Rows is the outcome of a query. The rows of pgx have this form.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close()
}

// Tx is one transaction of a database. Values are int64, string and []byte.
type Tx interface {
	// Exec runs a statement and returns how many rows it changed.
	Exec(ctx context.Context, statement string, args ...any) (int64, error)
	Query(ctx context.Context, statement string, args ...any) (Rows, error)
	// Changed has whoever watches the run told once the transaction is stored.
	Changed(ctx context.Context, id harness.RunID) error
}

// DB runs transactions.
type DB interface {
	// Write runs f in a transaction that is on disk when Write returns nil;
	// otherwise nothing was written, or the outcome is not known. f may be called
	// again if the database asks for that.
	Write(ctx context.Context, f func(Tx) error) error
	// Read runs f on one state of the database.
	Read(ctx context.Context, f func(Tx) error) error
}

// Dialect is what differs between databases.
type Dialect struct {
	// Numbered says that placeholders are $1, $2 and so on, not question marks.
	Numbered bool
	// Serial is the definition of a key that grows with each row, and Blob the type
	// of bytes.
	Serial, Blob string
	// Lock follows a query that reads a row to change it, SkipLocked one that takes
	// rows that no other transaction has. Both are empty where one transaction
	// writes at a time.
	Lock, SkipLocked string
	// Clock is an expression of the database's time in microseconds since 1970.
	// With it a claim ends when its lease does; without, the [Seats] tell who lives.
	Clock string
}

// bind writes the placeholders of a statement, which has no other question marks.
func (d Dialect) bind(statement string) string {
	if !d.Numbered {
		return statement
	}
	var b strings.Builder
	for n := 1; ; n++ {
		before, after, found := strings.Cut(statement, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString("$" + strconv.Itoa(n))
		statement = after
	}
}

// Seats tells which drivers live, where no lease does. A seat is that of one
// generation of a run; it is free again when its process has died. Take and
// Alive are called within transactions, Take within the only one that writes.
type Seats interface {
	// Take takes a seat for this process.
	Take(id harness.RunID, generation int) error
	// Alive reports whether a living process has the seat.
	Alive(id harness.RunID, generation int) (bool, error)
	// Drop gives a seat of this process back and removes what is left of one whose
	// process has died or lost the run.
	Drop(id harness.RunID, generation int)
}
