package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

const (
	// quiet is how long nothing may change before a picture, still the longest wait
	// for that: some screens count seconds. patience is the wait for a text.
	quiet, still, patience = 700 * time.Millisecond, 5 * time.Second, 60 * time.Second
)

// terminal is cairn in a terminal.
type terminal struct {
	cmd  *exec.Cmd
	pty  *os.File
	mu   sync.Mutex
	seen *vt.Emulator
	last time.Time // of a change
}

func open(ctx context.Context, binary, dir string, env, args []string, width, height int, l look, above string) (*terminal, error) {
	t := &terminal{cmd: exec.CommandContext(ctx, binary, args...), seen: vt.NewEmulator(width, height), last: time.Now()}
	t.seen.SetDefaultBackgroundColor(colour(l.back))
	t.seen.SetDefaultForegroundColor(colour(l.fore))
	_, _ = t.seen.WriteString(above)
	t.cmd.Env, t.cmd.Dir = env, dir
	f, err := pty.StartWithSize(t.cmd, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)})
	if err != nil {
		return nil, err
	}
	t.pty = f
	go func() { _, _ = io.Copy(f, t.seen) }() // what the terminal answers, until it is closed
	go func() {
		b := make([]byte, 64<<10)
		for {
			n, err := f.Read(b)
			t.mu.Lock()
			_, _ = t.seen.Write(b[:n])
			t.last = time.Now()
			t.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return t, nil
}

// play does the steps and waits until nothing changes.
func (t *terminal) play(steps []string) error {
	for _, step := range steps {
		if want, ok := strings.CutPrefix(step, "?"); ok {
			if err := t.wait(want); err != nil {
				return err
			}
			continue
		}
		if key, ok := keys()[step]; ok {
			step = key
		}
		t.settle()
		if err := t.send(step); err != nil {
			return err
		}
	}
	t.settle()
	return nil
}

// send types. What it does is still to be seen then.
func (t *terminal) send(keys string) error {
	t.mu.Lock()
	t.last = time.Now()
	t.mu.Unlock()
	_, err := io.WriteString(t.pty, keys)
	return err
}

// settle waits until nothing changes.
func (t *terminal) settle() {
	for end := time.Now().Add(still); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		t.mu.Lock()
		rests := time.Since(t.last) > quiet
		t.mu.Unlock()
		if rests {
			return
		}
	}
}

// wait waits until a text is seen.
func (t *terminal) wait(text string) error {
	screen := ""
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		t.mu.Lock()
		screen = t.seen.String()
		t.mu.Unlock()
		if strings.Contains(screen, text) {
			return nil
		}
	}
	return fmt.Errorf("waited in vain for %q; the screen is:\n%s", text, screen)
}

// close ends cairn with SIGKILL.
func (t *terminal) close() {
	_ = t.cmd.Process.Kill()
	_ = t.cmd.Wait() // it was killed
	_ = t.pty.Close()
}
