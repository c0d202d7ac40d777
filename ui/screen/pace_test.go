package screen

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// film records when frames were written.
type film struct {
	start time.Time
	times []time.Duration
}

func (f *film) Write(b []byte) (int, error) {
	if strings.HasPrefix(string(b), syncBegin) != strings.HasSuffix(string(b), syncEnd) {
		return 0, fmt.Errorf("written is part of a frame: %q", b)
	}
	f.times = append(f.times, time.Since(f.start))
	return len(b), nil
}

// counter shows how many messages it got, and counts its views.
type counter struct{ got, views int }

type token struct{}

func (c *counter) Init() tea.Cmd { return nil }

func (c *counter) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg.(type) {
	case token, tea.KeyMsg:
		c.got++
	}
	return c, nil
}

func (c *counter) View() string {
	c.views++
	return fmt.Sprint(c.got)
}

// onFilm is a screen of 20x3 without a terminal.
func onFilm(f *film) *Screen {
	size := func() (int, int, error) { return 20, 3, nil }
	return &Screen{log: slog.New(slog.DiscardHandler), now: time.Now, out: f, size: size, paint: newPainter("xterm", 20, 3), active: true}
}

// play runs a counter on a screen without a terminal while script sends it
// messages, in the time of a bubble.
func play(t *testing.T, script func(s *Screen)) (*film, *counter) {
	t.Helper()
	f, c := &film{}, &counter{}
	synctest.Test(t, func(t *testing.T) {
		f.start = time.Now()
		s := onFilm(f)
		ended := make(chan error, 1)
		go func() {
			_, err := s.loop(context.Background(), c)
			ended <- err
		}()
		synctest.Wait()
		time.Sleep(time.Second) // quiet, in the time of the bubble
		f.start, f.times, c.views = time.Now(), nil, 0
		script(s)
		synctest.Wait()
		time.Sleep(time.Hour)
		s.Send(tea.QuitMsg{})
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return f, c
}

func key() tea.Msg { return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("x")} }

func TestTheFirstChangeAfterQuietIsDrawnAtOnce(t *testing.T) {
	for _, msg := range []tea.Msg{token{}, key()} {
		f, _ := play(t, func(s *Screen) { s.Send(msg) })
		if len(f.times) != 1 || f.times[0] != 0 {
			t.Errorf("%T is drawn at %v, want at once", msg, f.times)
		}
	}
}

func TestAStreamIsDrawnAtAnEvenPaceAndItsEndIsNotForgotten(t *testing.T) {
	f, c := play(t, func(s *Screen) {
		for range 100 {
			s.Send(token{})
			time.Sleep(10 * time.Millisecond)
		}
	})
	for i := 1; i < len(f.times); i++ {
		if gap := f.times[i] - f.times[i-1]; gap < flowEvery || gap > flowEvery+10*time.Millisecond {
			t.Errorf("frames %d and %d are %v apart", i-1, i, gap)
		}
	}
	if last := f.times[len(f.times)-1]; last < 990*time.Millisecond || last > 990*time.Millisecond+flowEvery {
		t.Errorf("the last token, of 990ms, is drawn at %v", last)
	}
	if c.views != len(f.times) {
		t.Errorf("%d views for %d frames", c.views, len(f.times))
	}
}

func TestAKeyDoesNotWaitForTheStream(t *testing.T) {
	f, _ := play(t, func(s *Screen) {
		s.Send(token{})
		time.Sleep(5 * time.Millisecond)
		s.Send(token{})
		s.Send(key())
		synctest.Wait()
	})
	if fmt.Sprint(f.times) != fmt.Sprint([]time.Duration{0, 5 * time.Millisecond}) {
		t.Errorf("frames at %v, want the key's 5ms after the token's, and the second token's with it", f.times)
	}
}

func TestKeysInARushShareFrames(t *testing.T) {
	f, c := play(t, func(s *Screen) {
		for range 100 {
			s.Send(key())
		}
	})
	if fmt.Sprint(f.times) != fmt.Sprint([]time.Duration{0, echoEvery}) {
		t.Errorf("100 keys at once are drawn at %v", f.times)
	}
	if c.got != 100 {
		t.Errorf("%d keys came", c.got)
	}
}

func TestMessagesThatChangeNothingWriteNothing(t *testing.T) {
	f, _ := play(t, func(s *Screen) {
		for range 10 {
			s.Send("nothing to see")
			time.Sleep(time.Second)
		}
	})
	if len(f.times) != 0 {
		t.Errorf("frames at %v", f.times)
	}
}

func TestMessagesSentBeforeRunComeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := onFilm(&film{})
		s.Send(token{})
		s.Send(token{})
		s.Send(tea.QuitMsg{})
		m, err := s.loop(context.Background(), &counter{})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.(*counter).got; got != 2 {
			t.Errorf("%d messages came before the end", got)
		}
	})
}

func TestTheEndOfTheContextIsTheError(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(context.Background())
	why := fmt.Errorf("out of time")
	s := onFilm(&film{})
	cancel(why)
	if _, err := s.loop(ctx, &counter{}); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}
