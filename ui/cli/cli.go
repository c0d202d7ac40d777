// Package cli is the command line: flags, configuration, subcommands, text and
// JSON output, exit codes. The one thing to know: [Main] is the whole program
// but for what [Wire] hands in, takes its streams, environment and clock as
// arguments, and touches nothing global, so every command is tested in
// process.
package cli

import (
	"context"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
)

// The exit codes. They are part of the machine interface.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitNotFound    = 3
	ExitProvider    = 4
	ExitApproval    = 5
	ExitBusy        = 6
	ExitInterrupted = 130
)

// Streams is the program's surroundings.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// InTTY, OutTTY and ErrTTY say which of them are terminals.
	InTTY, OutTTY, ErrTTY bool
	// Width and Height are the terminal's, in cells; 0 means unknown.
	Width, Height int
	// Terminal names the terminal for others who wait, such as "pts/3".
	Terminal string
	Getenv   func(string) string
	// Dir is the working directory.
	Dir string
	// Discard throws away what was typed at the terminal and not read yet; nil
	// if In is none.
	Discard func() error
	// Ask writes a question to the terminal and returns what it answers within a
	// limit. Sane puts right what it makes of what is typed. Nil if input or output
	// is none.
	Ask  func(question string, limit time.Duration) ([]byte, error)
	Sane func(ctx context.Context) error
	Now  func() time.Time
}

// System returns the streams and surroundings of the process.
func System() Streams {
	s := Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTTY:  term.IsTerminal(os.Stdin.Fd()),
		OutTTY: term.IsTerminal(os.Stdout.Fd()),
		ErrTTY: term.IsTerminal(os.Stderr.Fd()),
		Getenv: os.Getenv, Now: time.Now, //nolint:forbidigo // the clock that all others are handed
	}
	if s.OutTTY {
		// A terminal that does not tell its width is one of unknown width.
		s.Width, s.Height, _ = term.GetSize(os.Stdout.Fd())
	}
	if s.InTTY && s.OutTTY {
		s.Ask = func(text string, limit time.Duration) ([]byte, error) {
			return question(os.Stdin, os.Stdout, text, limit)
		}
		s.Sane = func(ctx context.Context) error { return sane(ctx, os.Stdin) }
	}
	if s.InTTY {
		s.Discard = func() error { return discard(os.Stdin) }
		if name, err := os.Readlink("/proc/self/fd/0"); err == nil {
			s.Terminal = strings.TrimPrefix(name, "/dev/")
		}
	}
	// A directory that is gone is recorded as none.
	s.Dir, _ = os.Getwd()
	return s
}

// Main runs the program and returns its exit code. The context ends when the
// program is asked to stop; see [SignalContext].
func Main(ctx context.Context, s Streams, args []string, wire Wire) int {
	a := newApp(s, wire)
	err := a.run(ctx, args)
	if closeErr := a.close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = a.out.err
	}
	if err == nil {
		return ExitDone
	}
	if text := a.words(err); text != "" {
		a.complain(text)
	}
	return exitCode(err)
}

// version is what --version prints after the name.
func (w Wire) version() string {
	if w.Version != "" {
		return w.Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
