package postgres_test

import (
	"errors"
	"fmt"
	"testing"

	"cairn/harness"
	"cairn/storage/postgres"
	"cairn/storage/postgres/pgtest"
)

// ways are what can become of commits; the last time all is well.
var ways = map[string][]cut{
	"unanswered":       {cutAnswer},
	"lost":             {cutRequest},
	"lost, unanswered": {cutRequest, cutAnswer},
	"unanswered twice": {cutAnswer, cutAnswer},
}

// through opens a queue whose connections can be cut, and one beside it.
func through(t *testing.T) (*proxy, *postgres.Queue, *postgres.Queue) {
	t.Helper()
	address := pgtest.Start(t).Database(t)
	direct := open(t, address, postgres.Options{})
	p, way := newProxy(t, address)
	return p, open(t, way, postgres.Options{}), direct
}

func TestAppendIsStoredOnceWhateverBecomesOfItsCommit(t *testing.T) {
	t.Parallel()
	for name, plan := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, q, direct := through(t)
			submit(t, q, "r")
			c := claim(t, q, "r")
			for i := 1; i <= 3; i++ {
				p.next(plan...)
				e := answer("the same", "") // also equal ones are told apart
				added, err := q.Append(t.Context(), c, i, [][]byte{[]byte("bytes")}, e)
				if err != nil || len(added) != 1 || added[0].Seq != i+1 || added[0].Record == 0 {
					t.Fatalf("append %d: %+v, %v", i, added, err)
				}
			}
			if _, err := q.Append(t.Context(), c, 3, nil, answer("the same", "")); !errors.Is(err, harness.ErrStale) {
				t.Errorf("an append to an entry that is not the last: %v", err)
			}
			if all, err := direct.Read(t.Context(), "r", 0); err != nil || len(all) != 4 {
				t.Errorf("stored are %d entries, %v", len(all), err)
			}
		})
	}
}

func TestClaimsAreMadeOnceWhateverBecomesOfTheirCommit(t *testing.T) {
	t.Parallel()
	for name, plan := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, q, direct := through(t)
			p.next(plan...)
			here := submission("here")
			here.Here = true
			first, err := q.Submit(t.Context(), here, ada)
			if err != nil || first.Run != "here" || first.Broken {
				t.Fatalf("submit and claim: %+v, %v", first, err)
			}
			p.next(plan...)
			submit(t, q, "r")
			p.next(plan...)
			second, err := q.Next(t.Context(), ada, "", nil)
			if err != nil || second.Run != "r" || second.Broken {
				t.Fatalf("next: %+v, %v", second, err)
			}
			if err := q.Release(t.Context(), second, ""); err != nil {
				t.Fatal(err)
			}
			p.next(plan...)
			third, err := q.Claim(t.Context(), "r", ada)
			if err != nil || third.Broken {
				t.Fatalf("claim: %+v, %v", third, err)
			}
			for _, id := range []harness.RunID{"here", "r"} {
				var held *harness.HeldError
				if _, err := direct.Claim(t.Context(), id, ada); !errors.As(err, &held) {
					t.Errorf("%s is free: %v", id, err)
				}
			}
			if _, err := q.Append(t.Context(), first, 1, nil, answer("a", "")); err != nil {
				t.Error(err)
			}
			if _, err := q.Append(t.Context(), third, 1, nil, answer("b", "")); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSameAppendSucceedsWhenTheServerIsBack(t *testing.T) {
	t.Parallel()
	p, q, direct := through(t)
	submit(t, q, "r")
	c := claim(t, q, "r")
	for i := 1; i <= 3; i++ {
		p.next(cutServer)
		e := answer(fmt.Sprint("answer ", i), "")
		_, err := q.Append(t.Context(), c, i, nil, e)
		if err == nil {
			t.Fatal("an append passed that was not answered")
		}
		if errors.Is(err, harness.ErrStale) || errors.Is(err, harness.ErrLost) {
			t.Fatalf("while the server is away: %v", err)
		}
		if _, err := q.Get(t.Context(), "r"); err == nil {
			t.Fatal("a read passed")
		}
		p.setAway(false)
		added, err := q.Append(t.Context(), c, i, nil, e)
		if err != nil || len(added) != 1 || added[0].Seq != i+1 {
			t.Fatalf("the same append: %+v, %v", added, err)
		}
	}
	if all, err := direct.Read(t.Context(), "r", 0); err != nil || len(all) != 4 {
		t.Errorf("stored are %d entries, %v", len(all), err)
	}
}

func TestOtherAppendAfterAnUnansweredOneIsStale(t *testing.T) {
	t.Parallel()
	p, q, _ := through(t)
	submit(t, q, "r")
	c := claim(t, q, "r")
	p.next(cutAnswer, cutAnswer, cutAnswer, cutAnswer, cutAnswer)
	if _, err := q.Append(t.Context(), c, 1, nil, answer("one", "")); err == nil {
		t.Fatal("an append passed whose commits were all cut")
	}
	if _, err := q.Append(t.Context(), c, 1, nil, answer("another", "")); !errors.Is(err, harness.ErrStale) {
		t.Errorf("another append at the same place: %v", err)
	}
}
