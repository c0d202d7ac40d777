package postgres_test

import (
	"errors"
	"net/url"
	"sync"
	"testing"

	"cairn/harness"
	"cairn/storage/postgres"
	"cairn/storage/postgres/pgtest"
)

func TestSchemaOfOthersIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, statements := range map[string][]string{
		"a table":               {`CREATE TABLE cairn.notes (n int)`},
		"a table of our name":   {`CREATE TABLE cairn.runs (id text)`},
		"a sequence":            {`CREATE SEQUENCE cairn.s`},
		"a function":            {`CREATE FUNCTION cairn.f() RETURNS int LANGUAGE sql AS 'SELECT 1'`},
		"a type":                {`CREATE TYPE cairn.mood AS ENUM ('good')`},
		"versions of others":    {`CREATE TABLE cairn.cairn_versions (version int)`},
		"versions of nothing":   {`CREATE TABLE cairn.cairn_versions (version bigint, definitions text, made bigint)`, `CREATE TABLE cairn.runs (id text)`},
		"other definitions":     {`CREATE TABLE cairn.cairn_versions (version bigint, definitions text, made bigint)`, `INSERT INTO cairn.cairn_versions VALUES (1, 'other', 0)`},
		"a gap in the versions": {`CREATE TABLE cairn.cairn_versions (version bigint, definitions text, made bigint)`, `INSERT INTO cairn.cairn_versions VALUES (0, '', 0)`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := pgtest.Start(t).Database(t)
			for _, statement := range append([]string{`CREATE SCHEMA cairn`}, statements...) {
				admin(t, address, statement)
			}
			before := objects(t, address)
			_, err := postgres.Open(t.Context(), address, postgres.Options{})
			if !errors.Is(err, harness.ErrForeign) {
				t.Fatalf("opened: %v", err)
			}
			tells(t, err, "?schema=NAME")
			if after := objects(t, address); after != before {
				t.Errorf("there were %d objects and are %d", before, after)
			}
			submit(t, open(t, address+"&schema=other", postgres.Options{}), "r")
		})
	}
}

// objects counts what there is in the schema.
func objects(t *testing.T, address string) (n int) {
	t.Helper()
	query(t, address, `SELECT count(*) FROM pg_class WHERE relnamespace = 'cairn'::regnamespace`, &n)
	return n
}

func TestEmptySchemaIsUsed(t *testing.T) {
	t.Parallel()
	address := pgtest.Start(t).Database(t)
	admin(t, address, `CREATE SCHEMA cairn`)
	submit(t, open(t, address, postgres.Options{}), "r")
}

func TestSchemaOfNewerProgramIsRefused(t *testing.T) {
	t.Parallel()
	address := pgtest.Start(t).Database(t)
	submit(t, open(t, address, postgres.Options{}), "r")
	admin(t, address, `INSERT INTO cairn.cairn_versions SELECT max(version) + 1, 'of the future', 0 FROM cairn.cairn_versions`)
	if _, err := postgres.Open(t.Context(), address, postgres.Options{}); !errors.Is(err, harness.ErrNewer) {
		t.Errorf("opened: %v", err)
	}
}

// A definition that cannot be made leaves nothing behind.
func TestTablesAreMadeAllOrNone(t *testing.T) {
	t.Parallel()
	address := pgtest.Start(t).Database(t)
	admin(t, address, `CREATE SCHEMA cairn`)
	admin(t, address, `CREATE FUNCTION public.refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
		IF EXISTS (SELECT FROM pg_class WHERE relname = 'artifacts') THEN RAISE EXCEPTION 'the disk is full'; END IF; END $$`)
	admin(t, address, `CREATE EVENT TRIGGER refuse ON ddl_command_end EXECUTE FUNCTION public.refuse()`)
	_, err := postgres.Open(t.Context(), address, postgres.Options{})
	tells(t, err, "the disk is full")
	if n := objects(t, address); n != 0 {
		t.Errorf("%d objects are left", n)
	}
	admin(t, address, `DROP EVENT TRIGGER refuse`)
	submit(t, open(t, address, postgres.Options{}), "r")
}

func TestManyMakeTheTablesAtOnce(t *testing.T) {
	t.Parallel()
	address := pgtest.Start(t).Database(t) + "&schema=" + url.QueryEscape(`at "once"`)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			q, err := postgres.Open(t.Context(), address, postgres.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			if err := q.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	submit(t, open(t, address, postgres.Options{}), "r")
}

// Whoever may only read and write what an administrator made uses that.
func TestTablesOfAnAdministratorAreUsed(t *testing.T) {
	t.Parallel()
	s := pgtest.Alone(t)
	address := s.Database(t)
	submit(t, open(t, address, postgres.Options{}), "r")
	for _, statement := range []string{
		`CREATE ROLE bob LOGIN`, `GRANT USAGE ON SCHEMA cairn TO bob`, `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA cairn TO bob`,
	} {
		admin(t, address, statement)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User("bob")
	q := open(t, u.String(), postgres.Options{})
	if _, err := q.Append(t.Context(), claim(t, q, "r"), 1, nil, answer("done", harness.RunCompleted)); err != nil {
		t.Error(err)
	}
}

func TestClosedQueueSaysSo(t *testing.T) {
	t.Parallel()
	q := open(t, pgtest.Start(t).Database(t), postgres.Options{})
	changes, err := q.Watch(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(q.Close(), q.Close()); err != nil {
		t.Fatal(err)
	}
	for range changes {
	}
	if _, err := q.Get(t.Context(), "r"); !errors.Is(err, harness.ErrClosed) {
		t.Errorf("read after close: %v", err)
	}
	if _, err := q.Submit(t.Context(), submission("s"), ada); !errors.Is(err, harness.ErrClosed) {
		t.Errorf("submit after close: %v", err)
	}
	if _, err := q.Watch(t.Context(), "r"); !errors.Is(err, harness.ErrClosed) {
		t.Errorf("watch after close: %v", err)
	}
}
