package sqljournal

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver of what explains the statements

	"cairn/harness"
	"cairn/harness/run"
)

// explained is a database that remembers how it would carry out each statement, and
// how many rows were read of queries.
type explained struct {
	*sql.DB

	plans map[string]string
	read  int
}

// Write implements [DB].
func (d *explained) Write(ctx context.Context, f func(Tx) error) error {
	tx, err := d.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(explainedTx{d, tx}); err != nil {
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}

// Read implements [DB].
func (d *explained) Read(ctx context.Context, f func(Tx) error) error { return d.Write(ctx, f) }

type explainedTx struct {
	d *explained
	*sql.Tx
}

func (t explainedTx) explain(ctx context.Context, statement string, args []any) error {
	if strings.HasPrefix(statement, "CREATE") {
		return nil
	}
	rows, err := t.QueryContext(ctx, "EXPLAIN QUERY PLAN "+statement, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			return err
		}
		steps = append(steps, step)
	}
	t.d.plans[strings.Join(strings.Fields(statement), " ")] = strings.Join(steps, "; ")
	return rows.Err()
}

// Exec implements [Tx].
func (t explainedTx) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	if err := t.explain(ctx, statement, args); err != nil {
		return 0, err
	}
	res, err := t.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// Query implements [Tx].
func (t explainedTx) Query(ctx context.Context, statement string, args ...any) (Rows, error) {
	if err := t.explain(ctx, statement, args); err != nil {
		return nil, err
	}
	rows, err := t.QueryContext(ctx, statement, args...) //nolint:rowserrcheck // whoever reads the rows checks
	return countedRows{rows, t.d}, err
}

// Changed implements [Tx].
func (explainedTx) Changed(context.Context, harness.RunID) error { return nil }

type countedRows struct {
	*sql.Rows
	d *explained
}

// Next implements [Rows].
func (r countedRows) Next() bool {
	more := r.Rows.Next()
	if more {
		r.d.read++
	}
	return more
}

// Close implements [Rows].
func (r countedRows) Close() { _ = r.Rows.Close() }

// empty are seats of which nobody has any.
type empty struct{}

func (empty) Take(harness.RunID, int) error          { return nil }
func (empty) Alive(harness.RunID, int) (bool, error) { return false, nil }
func (empty) Drop(harness.RunID, int)                {}

func explainedQueue(t *testing.T, runs int) (*Queue, *explained) {
	t.Helper()
	file, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "runs.db")+"?_pragma=foreign_keys(ON)&_pragma=synchronous(OFF)")
	if err != nil {
		t.Fatal(err)
	}
	file.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = file.Close() })
	d := &explained{DB: file, plans: map[string]string{}}
	q := New(d, Dialect{Serial: "INTEGER PRIMARY KEY AUTOINCREMENT", Blob: "BLOB"}, Options{Seats: empty{}})
	if err := d.Write(t.Context(), func(tx Tx) error { return q.Migrate(t.Context(), tx) }); err != nil {
		t.Fatal(err)
	}
	for n := range runs {
		id := harness.RunID(fmt.Sprintf("r%d", n))
		_, err := q.Submit(t.Context(), run.Submission{
			Run:   harness.Run{ID: id, Session: "s", First: 1},
			First: run.Entry{Kind: "start", Status: harness.RunRunning}, Carried: run.Carried{Store: "store"},
		}, harness.Holder{})
		if err != nil {
			t.Fatal(err)
		}
	}
	clear(d.plans)
	d.read = 0
	return q, d
}

// What is asked all the time is found by an index, however many runs there are.
func TestStatementsFindTheirRowsByIndexes(t *testing.T) {
	t.Parallel()
	q, d := explainedQueue(t, 3)
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	c, err := q.Next(ctx, harness.Holder{}, "box", []harness.RunID{"r1"})
	must(err)
	_, err = q.Renew(ctx, c)
	must(err)
	must(q.SavePartial(ctx, c, harness.Partial{Text: "so far"}))
	_, err = q.Append(ctx, c, 1, [][]byte{[]byte("bytes")}, run.Entry{Kind: "end", Status: harness.RunCompleted})
	must(err)
	must(q.Release(ctx, c, "no"))
	must(q.Ask(ctx, "r1", run.AskCancel))
	must(q.Acknowledge(ctx, c.Run, 2))
	_, err = q.Get(ctx, "r1")
	must(err)
	_, err = q.Read(ctx, c.Run, 1)
	must(err)
	_, err = q.Artifact(ctx, c.Run, harness.ArtifactName([]byte("bytes")))
	must(err)
	_, err = q.Carried(ctx, c.Run)
	must(err)
	_, err = q.List(ctx, run.JobFilter{Store: "store", Session: "s", Unacknowledged: true})
	must(err)
	_, err = q.Prune(ctx, run.Prune{Before: time.Unix(1, 0), Keep: 5})
	must(err)
	if len(d.plans) < 15 {
		t.Errorf("only %d statements were explained", len(d.plans))
	}
	for statement, plan := range d.plans {
		for step := range strings.SplitSeq(plan, "; ") {
			if strings.HasPrefix(step, "SCAN ") && !strings.Contains(step, "USING INDEX") && !strings.Contains(step, "USING COVERING INDEX") ||
				strings.Contains(step, "TEMP B-TREE") && strings.Contains(statement, "FROM runs") {
				t.Errorf("%s\n\tis carried out by %s", statement, plan)
			}
		}
	}
}

// To find the run that is next, those behind it are not read; nor is each run of a
// list asked for on its own.
func TestCostDoesNotGrowWithWhatWaits(t *testing.T) {
	t.Parallel()
	q, d := explainedQueue(t, 1200)
	if _, err := q.Next(t.Context(), harness.Holder{}, "", nil); err != nil {
		t.Fatal(err)
	}
	if d.read > 10 {
		t.Errorf("%d rows were read for the next run of 1200", d.read)
	}
	clear(d.plans)
	jobs, err := q.List(t.Context(), run.JobFilter{Unfinished: true})
	if err != nil || len(jobs) != 1200 || jobs[0].Run.Waits == "" {
		t.Fatalf("%d runs, %v", len(jobs), err)
	}
	if len(d.plans) > 3 { // the runs, and why they wait in two sizes of batch
		t.Errorf("%d statements for a list", len(d.plans))
	}
}

// Reasons that differ each time do not pile up.
func TestOnlyTheLastRefusalsOfARunAreKept(t *testing.T) {
	t.Parallel()
	q, d := explainedQueue(t, 2)
	clock := time.Unix(100, 0)
	q.now = func() time.Time { clock = clock.Add(time.Second); return clock }
	for n := range 3 * keptRefusals {
		for _, id := range []harness.RunID{"r0", "r1"} {
			c, err := q.Claim(t.Context(), id, harness.Holder{})
			if err != nil {
				t.Fatal(err)
			}
			if err := q.Release(t.Context(), c, fmt.Sprintf("refused %d", n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	var kept int
	if err := d.QueryRowContext(t.Context(), "SELECT count(*) FROM refusals").Scan(&kept); err != nil || kept != 2*keptRefusals {
		t.Errorf("%d are kept, %v", kept, err)
	}
	if j, err := q.Get(t.Context(), "r1"); err != nil || j.Run.Waits != "refused 23; refused 22; refused 21" {
		t.Errorf("it waits because %q, %v", j.Run.Waits, err)
	}
}
