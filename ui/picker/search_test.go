package picker

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
)

// slow is a search that takes its time unless it is stopped.
type slow struct {
	mu      sync.Mutex
	begun   []string
	stopped []string
	takes   time.Duration
}

func (f *slow) Search(ctx context.Context, query string, _ int) ([]harness.Hit, error) {
	f.mu.Lock()
	f.begun = append(f.begun, query)
	f.mu.Unlock()
	select {
	case <-time.After(f.takes):
		return []harness.Hit{{Session: "trip", Message: 4, Excerpt: "found by " + query}}, nil
	case <-ctx.Done():
		f.mu.Lock()
		f.stopped = append(f.stopped, query)
		f.mu.Unlock()
		return nil, ctx.Err()
	}
}

// saw are the queries that it began with and those that were stopped.
func (f *slow) saw() (begun, stopped []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.begun), slices.Clone(f.stopped)
}

// live runs the commands of a screen as the program does: each on its own.
type live struct {
	*screen
	messages chan tea.Msg
}

func openLive(t *testing.T, search harness.Searcher) *live {
	s := open(t, sample(), 80, 24, func(c *Config) { c.Search = search })
	s.found.pause = searchPause
	return &live{s, make(chan tea.Msg, 100)}
}

func (l *live) run(cmds ...tea.Cmd) {
	for _, cmd := range cmds {
		if cmd != nil {
			go func() { l.messages <- cmd() }()
		}
	}
}

// key presses a key and lets time pass.
func (l *live) key(name string, then time.Duration) {
	l.send(keyMsg(name))
	l.flush()
	l.pass(then)
}

func (l *live) flush() {
	l.run(l.cmds...)
	l.cmds = nil
}

func (l *live) pass(d time.Duration) {
	for end := time.After(d); ; {
		select {
		case msg := <-l.messages:
			switch msg := msg.(type) {
			case nil:
			case tea.BatchMsg:
				l.run(msg...)
			default:
				l.send(msg)
				l.flush()
			}
		case <-end:
			synctest.Wait()
			return
		}
	}
}

func TestMessagesAreSearchedWhenTypingRests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &slow{takes: 10 * time.Millisecond}
		l := openLive(t, f)
		for _, k := range []string{"z", "e", "b"} {
			l.key(k, searchPause/2)
		}
		if begun, _ := f.saw(); len(begun) != 0 {
			t.Errorf("while typing it searched %q", begun)
		}
		l.pass(searchPause)
		if begun, _ := f.saw(); !slices.Equal(begun, []string{"zeb"}) {
			t.Errorf("searched %q", begun)
		}
		l.shows("found by zeb")
	})
}

func TestASearchForEarlierWordsIsStoppedAndItsHitsAreNotShown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &slow{takes: time.Second}
		l := openLive(t, f)
		l.key("z", 2*searchPause)
		l.shows("searching")
		l.key("e", 2*searchPause)
		if begun, stopped := f.saw(); !slices.Equal(begun, []string{"z", "ze"}) || !slices.Equal(stopped, []string{"z"}) {
			t.Errorf("begun %q, stopped %q", begun, stopped)
		}
		l.pass(2 * time.Second)
		l.shows("found by ze").lacks("searching")
		l.key("backspace", 0)
		l.shows("found by ze") // its excerpt has a z
		l.key("x", 0)
		l.lacks("found by")
		l.pass(2 * time.Second)
		l.shows("found by zx")
		l.key("ctrl+u", 0)
		l.lacks("found by", "IN MESSAGES")
	})
}

func TestMessagesThatAreFoundLateLeaveTheMenuWhereItIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &slow{takes: time.Second}
		l := openLive(t, f)
		l.key("i", 2*time.Second)
		l.key("end", 0)
		l.key("m", 2*searchPause)
		l.key("tab", 0)
		of := l.menu.of
		l.pass(2 * time.Second)
		if !l.menu.open || l.menu.of != of || l.list.sel != of {
			t.Errorf("the menu of %v is now %+v on %v", of, l.menu, l.list.sel)
		}
	})
}

func TestLeavingTheScreenStopsItsSearch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &slow{takes: time.Hour}
		l := openLive(t, f)
		l.key("z", 2*searchPause)
		l.key("esc", time.Second)
		if _, stopped := f.saw(); !slices.Equal(stopped, []string{"z"}) || l.last != (Back{}) {
			t.Errorf("stopped %q, esc gives %#v", stopped, l.last)
		}
	})
}

// costly is a store whose list takes long to read.
type costly struct {
	*store
	takes time.Duration
	reads int
}

func (f *costly) List(ctx context.Context, filter harness.SessionFilter) ([]harness.Session, error) {
	f.reads++
	time.Sleep(f.takes)
	return f.store.List(ctx, filter)
}

func TestALongListIsNotReadForEachChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &costly{store: sample(), takes: 100 * time.Millisecond}
		l := &live{open(t, f.store, 80, 24, func(c *Config) { c.Sessions, c.Now = f, time.Now }), make(chan tea.Msg, 100)}
		first := f.reads
		for range 100 {
			l.send(Changed{})
			l.flush()
			l.pass(50 * time.Millisecond)
		}
		if got := f.reads - first; got < 8 || got > 11 {
			t.Errorf("changes of five seconds took %d readings of 100 ms, want one every 500 ms", got)
		}
		f.sessions[f.find("vat")].Title = "The last change"
		l.send(Changed{})
		l.flush()
		l.pass(600 * time.Millisecond)
		l.shows("The last change")
		l.key("down", 0)
		l.send(Changed{})
		l.flush()
		l.key("ctrl+b", 150*time.Millisecond) // what a person does is read at once
		if got := f.sessions[f.find("vat")]; !got.Pinned || l.list.at > 1 {
			t.Errorf("pinned %v, row %d", got.Pinned, l.list.at)
		}
	})
}
