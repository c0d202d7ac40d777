package ui

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"cairn/harness"
	"cairn/ui/runs/standing"
)

const (
	// kindSpending is the kind of a run's error at a spending limit.
	kindSpending = "spending"
	// readAtStart tells whoever raises a limit that this chat does not know of it.
	readAtStart = "; a raised limit counts once cairn is started again"
)

// Words turns an error into one sentence that says what to do. Every screen
// shows errors through it.
func Words(err error) string {
	if err == nil {
		return ""
	}
	var run *harness.RunError
	if errors.As(err, &run) {
		if run.Kind == kindSpending {
			return sentence(run.Text + readAtStart)
		}
		return sentence(run.Text)
	}
	var spent *harness.SpendingError
	if errors.As(err, &spent) {
		return sentence(spent.Error() + readAtStart)
	}
	var held *harness.HeldError
	switch {
	case errors.As(err, &held) && held.Run != "":
		return sentence("The run is driven by " + standing.Driver(held.Holder) + "; wait until it rests, or stop it with: cairn runs cancel " + string(held.Run))
	case held != nil:
		return "The session is open in " + held.Holder.String() + "; /takeover takes it over."
	case errors.Is(err, harness.ErrLost):
		return "Another window took this session over; what you typed is still here."
	case errors.Is(err, harness.ErrLocked):
		_, who, _ := strings.Cut(err.Error(), harness.ErrLocked.Error())
		who, _, _ = strings.Cut(who, ";")
		return sentence(harness.ErrLocked.Error() + who + "; nothing is lost: try again, or end that process")
	case errors.Is(err, harness.ErrBusy):
		return "An answer is under way already; wait for it, or stop it."
	case errors.Is(err, harness.ErrAwaiting):
		return "A decision is waiting in this session; take it first."
	case errors.Is(err, harness.ErrRule):
		_, why, _ := strings.Cut(err.Error(), harness.ErrRule.Error())
		return sentence(harness.ErrRule.Error() + why)
	case errors.Is(err, harness.ErrStale):
		return stale(err)
	case errors.Is(err, harness.ErrClosed):
		return "cairn is closing; start it again to go on."
	case ofEngine(err):
		return sentence(err.Error())
	case errors.Is(err, harness.ErrNewer):
		return sentence(err.Error() + "; use that cairn, or another store with --dir")
	case errors.Is(err, harness.ErrForeign):
		return sentence(err.Error() + "; choose another store with --dir")
	case errors.Is(err, harness.ErrDamaged):
		return sentence(err.Error() + "; nothing was changed: look at it with cairn db check")
	case errors.Is(err, harness.ErrNotFound):
		return sentence(err.Error() + "; it may have been deleted in another window")
	case errors.Is(err, syscall.ENOSPC):
		return "The disk is full, so this is not saved; free some space and go on."
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return sentence(err.Error() + "; make the store writable, or choose another with --dir")
	case errors.Is(err, context.DeadlineExceeded):
		return sentence("That took too long and was given up: " + err.Error())
	}
	return sentence(err.Error())
}

// ofEngine reports whether an engine outside of the store is foreign, newer or damaged.
func ofEngine(err error) bool {
	return standing.OfEngine(err.Error()) &&
		(errors.Is(err, harness.ErrNewer) || errors.Is(err, harness.ErrForeign) || errors.Is(err, harness.ErrDamaged))
}

// stale says that something changed under a person's eyes. What an error says
// behind a semicolon is what to do.
func stale(err error) string {
	text := err.Error()
	switch {
	case strings.Contains(text, ";"):
		return sentence(text)
	case strings.Contains(text, "not what was shown"):
		return "What waits there is not what was shown any more; look at it as it is now. Nothing was decided."
	default:
		return sentence(text + "; look at it again")
	}
}

// sentence begins with a capital letter, unless with the name of a program or
// a service, and ends with a full stop.
func sentence(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if s == "" {
		return "Something failed without saying what."
	}
	word, _, _ := strings.Cut(s, " ")
	if c := s[0]; c >= 'a' && c <= 'z' && word != "cairn" && !strings.Contains(word, ":") {
		s = string(c-'a'+'A') + s[1:]
	}
	if !strings.ContainsAny(s[len(s)-1:], ".!?") {
		s += "."
	}
	return s
}
