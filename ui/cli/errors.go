package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"cairn/harness"
	away "cairn/ui/runs/standing"
)

// failure is an error that knows its exit code. Its text is a sentence for
// people and needs nothing around it.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// ProviderError says that a model's provider is the reason, such as a key that
// is missing. The functions of a [Wire] return it to end with exit code 4.
type ProviderError struct{ Err error }

// Error implements error.
func (e *ProviderError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *ProviderError) Unwrap() error { return e.Err }

// fail returns an error with an exit code.
func fail(code int, format string, args ...any) error {
	return &failure{code: code, err: fmt.Errorf(format, args...)}
}

// usage is a fault in what was typed or configured.
func usage(format string, args ...any) error { return fail(ExitUsage, format, args...) }

// exitCode is the code that an error ends the program with.
func exitCode(err error) int {
	var f *failure
	var c *ConfigError
	var quiet *silent
	var provider *ProviderError
	_, held := harness.AsHeld(err)
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &f):
		return f.code
	case errors.As(err, &quiet):
		return quiet.code
	case errors.As(err, &c):
		return ExitUsage
	case errors.As(err, &provider):
		return ExitProvider
	case errors.Is(err, harness.ErrSecret):
		return ExitUsage
	case errors.Is(err, harness.ErrNotFound):
		return ExitNotFound
	case held, errors.Is(err, harness.ErrLocked), errors.Is(err, harness.ErrBusy), errors.Is(err, harness.ErrLost):
		return ExitBusy
	case errors.Is(err, harness.ErrAwaiting):
		return ExitApproval
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	default:
		return ExitFailed
	}
}

// words turns an error into a sentence that says what to do. It is the one
// place where that happens.
func (a *app) words(err error) string {
	var f *failure
	switch {
	case errors.As(err, &f):
		return err.Error()
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	text := undoubled(err.Error())
	hint := hintFor(err)
	// The store's own errors often say already what can be done.
	if hint == "" || strings.Contains(text, "--dir") || strings.Contains(text, "cairn db") {
		return text
	}
	return text + "; " + hint
}

// undoubled takes a step of the way that two parts of the program name, such as
// "search: search: ", out of an error's text once.
func undoubled(text string) string {
	parts := strings.Split(text, ": ")
	return strings.Join(slices.Compact(parts), ": ")
}

// hintFor says what can be done about a failure, empty if nobody knows.
func hintFor(err error) string {
	var held *harness.HeldError
	var out *outputError
	of := away.OfEngine(err.Error())
	switch {
	case errors.As(err, &out):
		if errors.Is(err, syscall.ENOSPC) {
			return "free some space there, or send the output elsewhere"
		}
		return ""
	case errors.As(err, &held) && held.Run != "":
		return "wait until it rests, or stop it with: cairn runs cancel " + string(held.Run)
	case held != nil:
		return "wait for it to end, or close that window"
	case errors.Is(err, harness.ErrLocked):
		return "wait for the other process to end, or choose another store with --dir"
	case errors.Is(err, harness.ErrLost):
		return "open it again to go on"
	case errors.Is(err, harness.ErrAwaiting):
		return "see: cairn runs list --unfinished"
	case of && (errors.Is(err, harness.ErrNewer) || errors.Is(err, harness.ErrForeign) || errors.Is(err, harness.ErrDamaged)):
		return "" // it says itself what to do; --dir is another matter
	case errors.Is(err, harness.ErrNewer):
		return "it is untouched: use that cairn, or another store with --dir"
	case errors.Is(err, harness.ErrForeign):
		return "it is untouched: choose another store with --dir"
	case errors.Is(err, harness.ErrDamaged):
		return "it is untouched: look at it with `cairn db check`, or start a fresh store with --dir"
	case unwritable(err):
		return "choose another place with --dir DIR or CAIRN_DIR"
	}
	return ""
}

// unwritable reports whether a place on disk cannot be used.
func unwritable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) ||
		errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENOSPC)
}

// cause is the reason in an error of the file system, without operation and
// path, for sentences that name the path themselves.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// complain writes a failure to the error stream. Several lines become several
// complaints, each with the program's name.
func (a *app) complain(text string) {
	for line := range strings.Lines(text) {
		// Where complaints go nowhere, there is nowhere to complain of it.
		_, _ = fmt.Fprintf(a.s.Err, "cairn: %s\n", a.safeErr(strings.TrimSuffix(line, "\n")))
	}
}

// notice tells something by the way, unless the person asked for quiet.
func (a *app) notice(format string, args ...any) {
	if !a.flags.quiet {
		a.complain(fmt.Sprintf(format, args...))
	}
}
