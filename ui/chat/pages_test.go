package chat

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"cairn/harness"
)

// lengths lays an item out as so many lines as its record number says.
type lengths struct {
	p    *pages
	live int
}

func (l lengths) lines(i int) []string {
	if i >= len(l.p.items) {
		return numbered("live", l.live)
	}
	seq := l.p.items[i].rec.Seq
	return numbered(fmt.Sprint(seq), seq%7)
}

func numbered(name string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s/%d", name, i)
	}
	return out
}

// all is everything from the first item to the live block.
func (l lengths) all() []string {
	var out []string
	for i := range len(l.p.items) + 1 {
		out = append(out, l.lines(i)...)
	}
	return out
}

func record(seq int) harness.Record { return harness.Record{Seq: seq, Prev: seq - 1} }

func records(from, to int) []harness.Record {
	var out []harness.Record
	for i := from; i <= to; i++ {
		out = append(out, record(i))
	}
	return out
}

// TestPagesAgainstAFlatList scrolls, appends and prepends at random, and
// compares what is seen with the same window of one flat list of lines.
func TestPagesAgainstAFlatList(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 11))
	for round := range 100 {
		p := pages{follow: true}
		first, last := 200, 220
		p.merge(records(first, last), last)
		src := lengths{p: &p}
		h := 1 + r.IntN(30)
		for step := range 60 {
			before := p.window(src, h)
			wasFollowing := p.follow
			grown := false
			switch r.IntN(5) {
			case 0:
				if src.live > 0 && !p.follow {
					break // a record takes the place of what streamed
				}
				src.live = 0
				last++
				p.put(record(last))
				grown = true
			case 1:
				src.live += r.IntN(3)
				grown = true
			case 2:
				if first > 150 {
					p.prepend(records(first-10, first-1), false)
					first -= 10
					grown = true
				}
			default:
				p.scroll(src, r.IntN(2*h+1)-h, h)
			}
			got, all := p.window(src, h), src.all()
			if p.follow && !slices.Equal(got, all[max(len(all)-h, 0):]) {
				t.Fatalf("round %d step %d: following shows %q", round, step, got)
			}
			if !p.follow && grown && !wasFollowing && !slices.Equal(got[:min(len(got), len(before))], before) {
				t.Fatalf("round %d step %d: what is read moved from %q to %q", round, step, before, got)
			}
			if len(got) > h || len(all) >= h && len(got) < h {
				t.Fatalf("round %d step %d: %d lines in a window of %d, of %d", round, step, len(got), h, len(all))
			}
		}
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	seqs := func(p pages) (out []int) {
		for _, it := range p.items {
			out = append(out, it.rec.Seq)
		}
		return out
	}
	for _, c := range []struct {
		name        string
		shown, read []harness.Record
		want        []int
		whole       bool
	}{
		{"first", nil, records(1, 3), []int{1, 2, 3}, true},
		{"tail", nil, records(8, 9), []int{8, 9}, false},
		{"more", records(1, 3), records(2, 5), []int{1, 2, 3, 4, 5}, true},
		{"adjacent", records(1, 3), records(4, 5), []int{1, 2, 3, 4, 5}, true},
		{"a gap", records(1, 3), records(7, 8), []int{7, 8}, false},
		{"missing between", []harness.Record{record(1), record(3)}, records(1, 3), []int{1, 2, 3}, true},
		{"another branch", records(1, 5), []harness.Record{record(1), record(2), {Seq: 6, Prev: 2}}, []int{1, 2, 6}, true},
		{"a shorter branch", records(1, 5), records(1, 3), []int{1, 2, 3}, true},
		{"the end of a shorter branch", records(4, 9), records(2, 7), []int{2, 3, 4, 5, 6, 7}, false},
		{"an empty branch", records(1, 2), nil, nil, true},
	} {
		p := pages{follow: true, whole: true}
		p.merge(c.shown, 9)
		p.merge(c.read, 9)
		if got := seqs(p); !slices.Equal(got, c.want) || p.whole != c.whole {
			t.Errorf("%s: %v (whole %v), not %v", c.name, got, p.whole, c.want)
		}
	}
}

// of is a record that a fork has of another session.
func of(in harness.SessionID, seq int) harness.Record {
	return harness.Record{Seq: seq, Prev: seq - 1, In: in}
}

func TestMergeAcrossForks(t *testing.T) {
	t.Parallel()
	join := slices.Concat[[]harness.Record]
	own := func(from, to int) []harness.Record { return records(from, to) }
	for _, c := range []struct {
		name        string
		shown, read []harness.Record
		want        string
		whole       bool
	}{
		{"the same numbers in both", join([]harness.Record{of("a", 1), of("a", 2)}, own(1, 2)), own(2, 3), "a1 a2 1 2 3 ", false},
		{"the first message of the fork", []harness.Record{of("a", 1), of("a", 2)}, own(1, 2), "a1 a2 1 2 ", false},
		{"back to where it leaves its parent", join([]harness.Record{of("a", 1), of("a", 2)}, own(1, 2)), []harness.Record{of("a", 1), of("a", 2)}, "a1 a2 ", false},
		{"what leads up to it is missing", []harness.Record{of("a", 1)}, own(1, 2), "1 2 ", false},
		{"a fork of a fork", nil, join([]harness.Record{of("b", 1), of("a", 2)}, own(1, 1)), "b1 a2 1 ", false},
	} {
		p := pages{follow: true, whole: true, parent: harness.Origin{Session: "a", Record: 2}}
		p.merge(c.shown, 9)
		p.merge(c.read, 9)
		got := ""
		for _, it := range p.items {
			got += fmt.Sprintf("%s%d ", it.rec.In, it.rec.Seq)
		}
		if got != c.want || p.whole != c.whole {
			t.Errorf("%s: %s(whole %v), not %s", c.name, got, p.whole, c.want)
		}
	}
}

// TestPagesAgainstRandomBranches moves the head of a fork about in a log of many
// branches, reading its end and what is before it. What is shown is always the
// end of the branch, without a gap.
func TestPagesAgainstRandomBranches(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	for round := range 200 {
		var before, log []harness.Record // of the parent, and the session's own
		p := pages{follow: true, whole: true}
		if round%2 == 0 {
			for i := range 1 + r.IntN(12) {
				before = append(before, of("a", i+1))
			}
			p.parent = origin(before[len(before)-1])
		}
		head := 0
		branch := func() []harness.Record {
			var out []harness.Record
			for seq := head; seq > 0; seq = log[seq-1].Prev {
				out = append(out, log[seq-1])
			}
			slices.Reverse(out)
			return slices.Concat(before, out)
		}
		for step := range 60 {
			switch r.IntN(4) {
			case 0, 1:
				log = append(log, harness.Record{Seq: len(log) + 1, Prev: head})
				if head = len(log); r.IntN(2) == 0 && step > 0 {
					p.put(log[head-1]) // as the run tells of it
				}
			case 2:
				head = r.IntN(len(log) + 1)
			case 3:
				if first, ok := p.first(); ok && !p.whole {
					all := branch()
					i := slices.IndexFunc(all, func(r harness.Record) bool { return origin(r) == origin(first) })
					if i < 0 {
						break // older messages of a branch that was left
					}
					from := max(i-3, 0)
					p.prepend(all[from:i], i-from < 3)
				}
			}
			all := branch()
			p.merge(all[max(len(all)-5, 0):], len(log))
			if n := len(p.items); n > len(all) || n < min(len(all), 5) {
				t.Fatalf("round %d step %d: %d items of a branch of %d", round, step, n, len(all))
			}
			for i, it := range p.items {
				if want := all[len(all)-len(p.items)+i]; origin(it.rec) != origin(want) {
					t.Fatalf("round %d step %d: item %d is %v, not %v", round, step, i, origin(it.rec), origin(want))
				}
			}
			if p.whole && len(p.items) != len(all) {
				t.Fatalf("round %d step %d: %d of %d are the whole", round, step, len(p.items), len(all))
			}
		}
	}
}

// TestWhatIsNewerThanWasReadStays has an answer stored while the end of the
// conversation is being read.
func TestWhatIsNewerThanWasReadStays(t *testing.T) {
	t.Parallel()
	p := pages{follow: true, whole: true}
	p.merge(records(1, 4), 4)
	p.add(item{quiet: "said after 4"})
	p.put(record(5))
	p.add(item{quiet: "said after 5"})
	p.merge(records(1, 4), 4)
	got := ""
	for _, it := range p.items {
		got += fmt.Sprint(it.rec.Seq) + it.quiet + " "
	}
	if want := "1 2 3 4 0said after 4 5 0said after 5 "; got != want {
		t.Errorf("shown is %q, not %q", got, want)
	}
}

// TestWhatWasSaidAtTheOpeningStandsWhereItWasSaid reads the conversation, sends a
// message, and answers it again, with the readings early and late.
func TestWhatWasSaidAtTheOpeningStandsWhereItWasSaid(t *testing.T) {
	t.Parallel()
	said := func(seq, prev int) harness.Record {
		msg := harness.UserText("go")
		return harness.Record{Seq: seq, Prev: prev, Message: &msg}
	}
	asked := append(records(1, 4), said(5, 4))
	send := func(p *pages) { p.add(item{rec: said(0, 0), sent: true}) }
	for _, c := range []struct {
		name string
		do   func(p *pages)
		want string
	}{
		{"answered", func(p *pages) { p.merge(records(1, 4), 4); send(p); p.merge(asked, 5); p.put(record(6)) }, "1 2 3 4 note 5 6"},
		{"read anew", func(p *pages) {
			p.merge(records(1, 4), 4)
			send(p)
			p.settle(5)
			p.put(record(6))
			p.merge(append(records(1, 4), said(5, 4), record(6)), 6)
		}, "1 2 3 4 note 5 6"},
		{"answered again", func(p *pages) {
			p.merge(records(1, 4), 4)
			send(p)
			p.settle(5)
			p.put(record(6))
			p.cut(p.index(harness.Origin{Record: 5}))
			send(p)
			p.merge(append(records(1, 4), said(7, 4)), 7)
			p.put(record(8))
		}, "1 2 3 4 note 7 8"},
		{"sent before it was read", func(p *pages) { send(p); p.merge(records(1, 4), 4); p.merge(asked, 5) }, "1 2 3 4 note 5"},
		{"stored before it was read", func(p *pages) { send(p); p.merge(asked, 5); p.put(record(6)) }, "1 2 3 4 note 5 6"},
		{"begun before it was read", func(p *pages) { send(p); p.settle(5); p.merge(asked, 5); p.put(record(6)) }, "1 2 3 4 note 5 6"},
		{"a new chat", func(p *pages) {
			send(p)
			p.merge([]harness.Record{said(1, 0)}, 1)
			p.put(record(2))
			p.merge([]harness.Record{said(1, 0), record(2)}, 2)
		}, "note 1 2"},
	} {
		p := pages{follow: true, whole: true}
		p.add(item{quiet: "note"})
		c.do(&p)
		var got []string
		for _, it := range p.items {
			if it.quiet != "" {
				got = append(got, it.quiet)
			} else {
				got = append(got, fmt.Sprint(it.rec.Seq))
			}
		}
		if all := strings.Join(got, " "); all != c.want {
			t.Errorf("%s: shown is %q, not %q", c.name, all, c.want)
		}
	}
}

// TestAPlaceThatIsGoneLeadsToTheEnd has the branch end before what is read.
func TestAPlaceThatIsGoneLeadsToTheEnd(t *testing.T) {
	t.Parallel()
	p := pages{follow: true, whole: true}
	p.merge(records(1, 30), 30)
	src := lengths{p: &p}
	p.scroll(src, -8, 10)
	p.merge(records(1, 6), 30)
	if p.settled(src, 10); !p.follow {
		t.Errorf("the end is at item %d and line %d of item %d is read", len(p.items), p.top.line, p.top.item)
	}
}

// TestAMessageThatIsReadBeforeItsRunBeginsStandsOnce reads the stored message
// while it still stands as just sent, in both ways that its run may tell of it.
func TestAMessageThatIsReadBeforeItsRunBeginsStandsOnce(t *testing.T) {
	t.Parallel()
	said := func(seq int, text string) harness.Record {
		msg := harness.UserText(text)
		return harness.Record{Seq: seq, Prev: seq - 1, Message: &msg}
	}
	for _, settle := range []bool{false, true} {
		p := pages{follow: true, whole: true}
		p.merge([]harness.Record{said(1, "go"), record(2)}, 2)
		p.add(item{rec: said(0, "go"), sent: true})
		p.merge([]harness.Record{said(1, "go"), record(2)}, 2)
		if n := len(p.items); n != 3 {
			t.Fatalf("%d items before the message is stored", n)
		}
		p.merge([]harness.Record{said(1, "go"), record(2), said(3, "go")}, 3)
		if settle {
			p.settle(3)
		} else {
			p.put(said(3, "go"))
		}
		p.put(record(4))
		var got []int
		for _, it := range p.items {
			got = append(got, it.rec.Seq)
		}
		if !slices.Equal(got, []int{1, 2, 3, 4}) {
			t.Errorf("settle %v: records %v are shown", settle, got)
		}
	}
}

func TestNewLinesAreCountedFromWhereTheEndWasLeft(t *testing.T) {
	t.Parallel()
	p := pages{follow: true, whole: true}
	p.merge(records(1, 20), 20)
	src := lengths{p: &p, live: 2}
	p.scroll(src, -5, 10)
	if n := p.fresh(src); n != 0 {
		t.Errorf("%d lines are new at once", n)
	}
	src.live = 5
	p.put(record(27)) // 27 % 7 = 6 lines
	src.live = 1
	if n := p.fresh(src); n != 6+1-2 {
		t.Errorf("%d lines are new", n)
	}
	p.scroll(src, 1000, 10)
	if !p.follow {
		t.Error("the end is reached and not followed")
	}
}
