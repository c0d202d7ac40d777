package postgres

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"cairn/harness"
	"cairn/storage/internal/sqljournal"
	"cairn/storage/postgres/pgtest"
)

// TestWatchersHearWhatTheServerTells is about a hub that only listens: nothing is
// found by looking now and then.
func TestWatchersHearWhatTheServerTells(t *testing.T) {
	t.Parallel()
	s := pgtest.Alone(t)
	p, config, err := parse(s.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	d := &database{place: p, pool: pool}
	h := newHub(p, config.ConnConfig, slog.New(slog.DiscardHandler))
	defer h.close()
	mine, other := watched(t, h, "mine"), watched(t, h, "other")
	h.begin.Do(func() { h.ended.Go(h.listen) }) // and nobody looks by themselves
	for range 3 {
		// Everybody looks once it listens, also after the server was gone.
		hears(t, mine)
		hears(t, other)
		tell(t, d, "mine", nil)
		hears(t, mine)
		tell(t, d, "mine", errors.New("undone"))
		tell(t, d, "other", nil)
		hears(t, other)
		select {
		case <-mine:
			t.Error("told of what was undone")
		default:
		}
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNobodyLooksAgainForNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHub(place{}, nil, slog.New(slog.DiscardHandler))
		defer h.close()
		h.begin.Do(func() {}) // nothing is heard
		for range 2 {
			ctx, leave := context.WithCancel(t.Context())
			changes, err := h.watch(ctx, "r1")
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				<-changes
			}
			h.mu.Lock()
			polling := h.polling
			h.mu.Unlock()
			leave()
			time.Sleep(2 * lookAgain)
			h.mu.Lock()
			if !polling || h.polling {
				t.Errorf("polled while watched: %v, after: %v", polling, h.polling)
			}
			h.mu.Unlock()
		}
	})
}

// tell changes a run, unless the change is undone.
func tell(t *testing.T, d *database, id harness.RunID, undone error) {
	t.Helper()
	err := d.Write(t.Context(), func(tx sqljournal.Tx) error {
		return errors.Join(tx.Changed(t.Context(), id), tx.Changed(t.Context(), id), undone)
	})
	if !errors.Is(err, undone) {
		t.Fatal(err)
	}
}

func watched(t *testing.T, h *hub, id harness.RunID) <-chan struct{} {
	t.Helper()
	changes, err := h.watchers.Watch(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

func hears(t *testing.T, changes <-chan struct{}) {
	t.Helper()
	select {
	case <-changes:
	case <-time.After(5 * time.Minute):
		t.Fatal("heard nothing")
	}
}

func TestWatchersLookAlsoIfNothingIsTold(t *testing.T) {
	t.Parallel()
	p, config, err := parse(pgtest.Start(t).URL("no such database"))
	if err != nil {
		t.Fatal(err)
	}
	h := newHub(p, config.ConnConfig, slog.New(slog.DiscardHandler))
	changes, err := h.watch(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	hears(t, changes)
	hears(t, changes)
	h.close()
	for range changes {
	}
}

// A transaction that the server undid because of another is tried again.
func TestTransactionIsTriedAgainAfterDeadlock(t *testing.T) {
	t.Parallel()
	p, config, err := parse(pgtest.Start(t).Database(t))
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.RuntimeParams["deadlock_timeout"] = "50ms"
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	d := &database{place: p, pool: pool}
	if _, err := pool.Exec(t.Context(), `CREATE TABLE public.n (id int PRIMARY KEY, n int); INSERT INTO public.n VALUES (1, 0), (2, 0)`); err != nil {
		t.Fatal(err)
	}
	met := make(chan struct{}, 2)
	tries := make(chan struct{}, 10)
	cross := func(first, second int64) error {
		once := true
		return d.Write(t.Context(), func(tx sqljournal.Tx) error {
			tries <- struct{}{}
			if _, err := tx.Exec(t.Context(), `UPDATE public.n SET n = n + 1 WHERE id = $1`, first); err != nil {
				return err
			}
			if once { // both have their first row before they want that of the other
				once = false
				met <- struct{}{}
				for len(met) < 2 {
					time.Sleep(time.Millisecond)
				}
			}
			_, err := tx.Exec(t.Context(), `UPDATE public.n SET n = n + 1 WHERE id = $1`, second)
			return err
		})
	}
	failed := make(chan error)
	go func() { failed <- cross(1, 2) }()
	if err := errors.Join(cross(2, 1), <-failed); err != nil {
		t.Fatal(err)
	}
	var sum int
	if err := pool.QueryRow(t.Context(), `SELECT sum(n) FROM public.n`).Scan(&sum); err != nil || sum != 4 || len(tries) < 3 {
		t.Errorf("%d changes after %d tries, %v", sum, len(tries), err)
	}
}

// What a database is set up to do by default changes nothing of what is promised.
func TestCommitsWaitForTheDiskWhateverTheDatabaseSays(t *testing.T) {
	t.Parallel()
	s := pgtest.Alone(t, "synchronous_commit=off", "default_transaction_read_only=on", "default_transaction_isolation=serializable")
	p, config, err := parse(s.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	d := &database{place: p, pool: pool}
	err = d.Write(t.Context(), func(tx sqljournal.Tx) error {
		rows, err := tx.Query(t.Context(), `SELECT current_setting('synchronous_commit'), current_setting('transaction_read_only'), current_setting('transaction_isolation')`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var commit, only, isolation string
			if err := rows.Scan(&commit, &only, &isolation); err != nil {
				return err
			}
			if commit != "on" || only != "off" || isolation != "read committed" {
				t.Errorf("synchronous_commit %s, read-only %s, isolation %s", commit, only, isolation)
			}
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestErrorsThatAreTriedAgain(t *testing.T) {
	t.Parallel()
	for _, err := range []error{nil, context.Canceled, context.DeadlineExceeded, harness.ErrStale, pgx.ErrNoRows, errors.New("another")} {
		if away(err) || conflict(err) {
			t.Errorf("%v is tried again", err)
		}
	}
}
