package cli

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
)

// maxLog is the size at which a log is set aside, in bytes.
const maxLog = 10 << 20

// logger opens the log, once. A log that was asked for by name must work; the
// usual one is done without if it cannot be written, and that is said.
func (a *app) logger() (*slog.Logger, error) {
	if a.log != nil {
		return a.log, nil
	}
	level := slog.LevelInfo
	if a.flags.verbose {
		level = slog.LevelDebug
	}
	path, asked := a.flags.log, true
	if path == "" {
		path = a.s.Getenv("CAIRN_LOG")
	}
	if path == "" {
		asked = false
		dir, err := stateDir(a.s)
		if err != nil {
			a.log = slog.New(slog.DiscardHandler)
			return a.log, nil //nolint:nilerr // without a home there is no usual log, and that is no failure
		}
		path = filepath.Join(dir, "cairn.log")
	}
	w := &logFile{path: absolute(a.s, expand(a.s, path))}
	if asked {
		if err := w.open(); err != nil {
			return nil, usage("the log %s cannot be written: %w; choose another with --log FILE", path, cause(err))
		}
	} else {
		w.failed = func(err error) { a.notice("no log is written to %s: %v", path, cause(err)) }
	}
	a.logFile = w
	a.closers = append(a.closers, w.Close)
	a.log = slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
	return a.log, nil
}

// logFile is a log that is opened by its first line, readable by its owner
// alone. slog calls Write for one line at a time.
type logFile struct {
	path string
	f    *os.File
	// failed is told once why there is no log; then lines are dropped.
	failed func(error)
	broken bool
}

func (w *logFile) open() error {
	if err := os.MkdirAll(filepath.Dir(w.path), 0o700); err != nil {
		return err
	}
	if info, err := os.Stat(w.path); err == nil && info.Mode().IsRegular() && info.Size() > maxLog {
		if err := os.Rename(w.path, w.path+".1"); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(w.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		err = f.Chmod(0o600)
	}
	if err != nil {
		return fmt.Errorf("tighten the log: %w", closeWith(f, err))
	}
	w.f = f
	return nil
}

func closeWith(c io.Closer, err error) error {
	if closeErr := c.Close(); closeErr != nil {
		return fmt.Errorf("%w (and closing it: %w)", err, closeErr)
	}
	return err
}

// ready opens the log now, so that a failure is told before a screen is up.
func (w *logFile) ready() bool {
	if w.f != nil || w.broken {
		return w.f != nil
	}
	if err := w.open(); err != nil {
		w.broken = true
		if w.failed != nil {
			w.failed(err)
		}
	}
	return w.f != nil
}

// Write implements io.Writer. Without a log, lines are dropped.
func (w *logFile) Write(p []byte) (int, error) {
	if !w.ready() {
		return len(p), nil
	}
	return w.f.Write(p)
}

// Close implements io.Closer.
func (w *logFile) Close() error {
	if w.f == nil {
		return nil
	}
	f := w.f
	w.f = nil
	w.broken = true
	return f.Close()
}
