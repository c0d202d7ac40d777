package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/ui/render"
)

// standing says of the messages of a branch which of them a model gets to see.
// Messages of the session's own log have no session in their origins.
type standing struct {
	// here are those in the context; pinned stay there whatever is condensed.
	here, pinned map[harness.Origin]bool
	// condensed is the condensing in force, nil if there is none.
	condensed *harness.Condensed
}

// standingOf looks at the branch on screen of a session.
func standingOf(ctx context.Context, st Store, s harness.Session, branch []harness.Record) (standing, error) {
	var out standing
	pinned, err := memory.Pinned(ctx, st.Transcript, s, harness.Origin{})
	if err != nil {
		return out, err
	}
	v, err := memory.Look(memory.In{Session: s.ID, History: branch, Pinned: pinned})
	if err != nil {
		return out, fmt.Errorf("read session %s: %w", s.ID, err)
	}
	out = standing{here: map[harness.Origin]bool{}, pinned: map[harness.Origin]bool{}, condensed: v.Condensed}
	for _, items := range [][]memory.Item{v.Items, v.Pins} {
		for _, it := range items {
			out.here[it.At] = true
		}
	}
	for _, r := range pinned {
		out.pinned[harness.Origin{Session: r.In, Record: r.Seq}] = true
	}
	return out, nil
}

// words say how a message stands, empty for one that is in the context.
func (s standing) words(r harness.Record) string {
	at := harness.Origin{Session: r.In, Record: r.Seq}
	switch {
	case s.here == nil:
		return ""
	case s.pinned[at]:
		return "pinned"
	case !s.here[at]:
		return "not in context"
	}
	return ""
}

// printCondensed tells of a condensing: what it did, and where it is in force the
// note that stands for the messages.
func (a *app) printCondensed(r harness.Record, s standing) {
	var c harness.Condensed
	if err := json.Unmarshal(r.Data, &c); err != nil {
		a.out.line("\n[%s] condensed, but the record cannot be read", numberOf(r))
		return
	}
	var did []string
	if c.Dropped > 0 {
		did = append(did, harness.Count(c.Dropped, "message")+" condensed")
	}
	if c.Cleared > 0 {
		did = append(did, harness.Count(c.Cleared, "result")+" of tools left out")
	}
	if len(did) == 0 {
		did = append(did, "condensed")
	}
	if c.Before > 0 {
		did = append(did, fmt.Sprintf("%s tokens then, %s after", harness.Grouped(c.Before), harness.Grouped(c.After)))
	}
	if c.Focus != "" {
		did = append(did, "kept on request: "+strings.Join(strings.Fields(c.Focus), " "))
	}
	a.out.line("\n[%s] %s", numberOf(r), render.SafeLine(strings.Join(did, ", ")))
	if s.condensed != nil && c.Note != "" && c.Note == s.condensed.Note && c.Kept == s.condensed.Kept {
		a.block("(" + harness.Count(c.Messages, "message") + " stand in the context as this note)\n" + c.Note)
	}
}
