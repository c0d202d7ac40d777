// Package uitest drives the root model as a person would, without a terminal
// and without a real sleep.
//
// The one thing to know: it runs the model's commands itself and, inside a
// synctest bubble, knows that the program is idle when every goroutine waits.
// So a test types, and looks at what is shown, and nothing is ever polled. A
// World is what stands behind the screen: a store in memory, the real engine,
// and a model that says what the test wants.
package uitest

import (
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"cairn/ui/render"
	"cairn/ui/screen"
)

// Driver is one running model.
type Driver struct {
	tb            testing.TB
	m             tea.Model
	width, height int
	msgs          chan tea.Msg
	done          chan struct{}
	quit          bool
	updates       int
	written       []string
	graphics      []screen.Graphic
	suspended     int
}

// Start sizes m and runs it. Call it inside [synctest.Test].
func Start(tb testing.TB, m tea.Model, width, height int) *Driver {
	tb.Helper()
	d := &Driver{tb: tb, m: m, msgs: make(chan tea.Msg), done: make(chan struct{})}
	tb.Cleanup(d.stop)
	d.run(m.Init())
	return d.Resize(width, height)
}

// Stop drops the program as if it had been killed: nothing it wanted to do is
// done any more.
func (d *Driver) Stop() {
	select {
	case <-d.done:
	default:
		close(d.done)
	}
}

// stop ends what the driver runs. The time it lets pass is for timers of
// libraries, which must not outlive the bubble.
func (d *Driver) stop() {
	d.Stop()
	<-time.After(time.Minute)
}

// Type types s, character by character.
func (d *Driver) Type(s string) *Driver {
	d.tb.Helper()
	for _, r := range s {
		key := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}
		if r == ' ' {
			key.Type = tea.KeySpace
		}
		d.send(key)
	}
	return d
}

// Press presses keys by the names that Bubble Tea gives them, such as "enter"
// or "ctrl+s".
func (d *Driver) Press(keys ...string) *Driver {
	d.tb.Helper()
	for _, k := range keys {
		d.send(Key(d.tb, k))
	}
	return d
}

// Key is a key by its name.
func Key(tb testing.TB, name string) tea.KeyMsg {
	tb.Helper()
	rest, alt := strings.CutPrefix(name, "alt+")
	for t := tea.KeyType(-120); t < 128; t++ {
		if t != tea.KeyRunes && (tea.KeyMsg{Type: t}).String() == rest {
			return tea.KeyMsg{Type: t, Alt: alt}
		}
	}
	if r := []rune(rest); len(r) == 1 {
		return tea.KeyMsg{Type: tea.KeyRunes, Runes: r, Alt: alt}
	}
	tb.Fatalf("there is no key %q", name)
	return tea.KeyMsg{}
}

// Paste pastes s in one go, as a terminal does.
func (d *Driver) Paste(s string) *Driver {
	d.tb.Helper()
	return d.send(screen.PasteMsg(s))
}

// Send sends a message that is no key.
func (d *Driver) Send(msg tea.Msg) *Driver {
	d.tb.Helper()
	return d.send(msg)
}

// Resize changes the size of the terminal.
func (d *Driver) Resize(width, height int) *Driver {
	d.tb.Helper()
	d.width, d.height = width, height
	return d.send(tea.WindowSizeMsg{Width: width, Height: height})
}

// Wait lets time pass, handling what happens meanwhile.
func (d *Driver) Wait(t time.Duration) *Driver {
	d.tb.Helper()
	end := time.NewTimer(t)
	defer end.Stop()
	for {
		select {
		case msg := <-d.msgs:
			d.update(msg)
		case <-end.C:
			return d.settle()
		}
	}
}

// Shows fails unless the screen shows each of want.
func (d *Driver) Shows(want ...string) *Driver {
	d.tb.Helper()
	for _, w := range want {
		if v := d.Screen(); !strings.Contains(v, w) {
			d.tb.Fatalf("the screen lacks %q:\n%s", w, v)
		}
	}
	return d
}

// Hides fails if the screen shows any of them.
func (d *Driver) Hides(unwanted ...string) *Driver {
	d.tb.Helper()
	for _, w := range unwanted {
		if v := d.Screen(); strings.Contains(v, w) {
			d.tb.Fatalf("the screen shows %q:\n%s", w, v)
		}
	}
	return d
}

// Screen is what is shown, without colours. It fails the test when the view
// does not fit the terminal.
func (d *Driver) Screen() string {
	d.tb.Helper()
	view := d.m.View()
	lines := strings.Split(view, "\n")
	if len(lines) > max(d.height, 1) {
		d.tb.Fatalf("the view has %d lines on %d rows:\n%s", len(lines), d.height, ansi.Strip(view))
	}
	for i, l := range lines {
		if w := render.Width(l); w > d.width {
			d.tb.Fatalf("line %d is %d wide on %d columns:\n%s", i, w, d.width, ansi.Strip(view))
		}
	}
	return ansi.Strip(view)
}

// Lines are the rows of the screen without trailing spaces.
func (d *Driver) Lines() []string {
	d.tb.Helper()
	lines := strings.Split(d.Screen(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return lines
}

// Model is the model as it is now.
func (d *Driver) Model() tea.Model { return d.m }

// Quit reports whether the program ended.
func (d *Driver) Quit() bool { return d.quit }

// Updates counts the messages that the model was given.
func (d *Driver) Updates() int { return d.updates }

// Suspended counts how often the program was suspended.
func (d *Driver) Suspended() int { return d.suspended }

// Written are the control sequences sent to the terminal.
func (d *Driver) Written() []string { return d.written }

// Graphics are the images given to the terminal, which tells nothing of them: that is
// for the test to do.
func (d *Driver) Graphics() []screen.Graphic { return d.graphics }

// send gives the model a message and waits until nothing is left to do now.
func (d *Driver) send(msg tea.Msg) *Driver {
	d.tb.Helper()
	d.update(msg)
	return d.settle()
}

func (d *Driver) settle() *Driver {
	d.tb.Helper()
	for {
		synctest.Wait()
		select {
		case msg := <-d.msgs:
			d.update(msg)
		default:
			return d
		}
	}
}

// update handles a message as Bubble Tea's loop would.
func (d *Driver) update(msg tea.Msg) {
	switch msg := msg.(type) {
	case nil:
		return
	case tea.BatchMsg:
		for _, cmd := range msg {
			d.run(cmd)
		}
		return
	case tea.QuitMsg:
		d.quit = true
		return
	case tea.SuspendMsg:
		d.suspended++
		return
	}
	if v := reflect.ValueOf(msg); v.Type().PkgPath() == "cairn/ui/screen" && v.Kind() == reflect.Slice {
		d.written = append(d.written, string(v.Bytes()))
		return
	}
	if g, ok := screen.Transmitted(msg); ok {
		d.graphics = append(d.graphics, g)
		return
	}
	d.updates++
	m, cmd := d.m.Update(msg)
	d.m = m
	d.run(cmd)
}

// run runs a command beside the loop.
func (d *Driver) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		select {
		case d.msgs <- cmd():
		case <-d.done:
		}
	}()
}
