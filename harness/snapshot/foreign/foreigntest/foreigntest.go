// Package foreigntest writes down conversations that were read of other programs, for
// tests to compare.
package foreigntest

import (
	"fmt"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/snapshot/foreign"
)

// Lines show the log of a session: of each record its number, what it follows, the
// role, and what it holds; and the head.
func Lines(s foreign.Session) string {
	var b strings.Builder
	for _, r := range s.Records {
		fmt.Fprintf(&b, "%d<%d %s", r.Seq, r.Prev, r.Message.Role)
		for _, p := range r.Message.Parts {
			switch {
			case p.Call != nil:
				fmt.Fprintf(&b, " call %s %s%s", p.Call.Name, p.Call.Input, p.Call.Malformed)
			case p.Result != nil:
				fmt.Fprintf(&b, " result %s %q", p.Result.Name, p.Result.Text)
			case p.Kind == harness.PartFile:
				fmt.Fprintf(&b, " file %s %s", p.File.Name, p.File.MediaType)
			case p.File != nil:
				fmt.Fprintf(&b, " given %q", p.Text)
			default:
				fmt.Fprintf(&b, " %s %q", p.Kind, p.Text)
			}
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "head %d", s.Head)
	return b.String()
}

// Same compares lines, but for white space around those that are wanted.
func Same(tb testing.TB, got, want string) {
	tb.Helper()
	if want = strings.TrimSpace(want); got != want {
		tb.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
