package cli

import (
	"strconv"
	"strings"

	"cairn/ui/render"
)

// The fates of entries.
const (
	entryNew     = "new"
	entrySame    = "same"
	entryEdited  = "edited"
	entrySkipped = "skipped"
	entryRefused = "refused"
)

// importedEntry is the JSON line of one entry, or of a file that was refused.
type importedEntry struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	Kind string `json:"kind,omitempty"`
	// ID is the fact or note that it is in the store.
	ID     string `json:"id,omitempty"`
	Action string `json:"action"`
	Reason string `json:"reason,omitempty"`
	// Text is the fact or the title of the note, nothing if it was refused.
	Text   string `json:"text,omitempty"`
	DryRun bool   `json:"dry_run,omitempty"`
}

// tell prints what became of an entry and counts it.
func (im *memoryImport) tell(r importedEntry) error {
	im.counts[r.Action]++
	r.DryRun = im.dry
	if r.Action == entryRefused {
		r.Text = "" // it may be the secret for which it was refused
	}
	if im.a.flags.json {
		return im.a.out.object(r)
	}
	where := r.File
	if r.Line > 0 {
		where += ":" + strconv.Itoa(r.Line)
	}
	text := strings.TrimSpace(r.ID + " " + firstLine(r.Text))
	switch r.Action {
	case entryRefused:
		im.a.complain(where + ": " + r.Reason)
	case entrySkipped:
		im.a.out.line("skipped %s: %s", render.SafeLine(where), render.SafeLine(r.Reason))
	case entrySame:
		if im.a.flags.verbose {
			im.a.out.line("same %s (%s)", render.SafeLine(text), render.SafeLine(where))
		}
	default:
		im.a.out.line("%s %s (%s)", r.Action, render.SafeLine(text), render.SafeLine(where))
		if r.Reason != "" {
			im.a.notice("%s: %s", where, r.Reason)
		}
	}
	return nil
}

// firstLine is the first line of a text, with a mark if there are more.
func firstLine(text string) string {
	line, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	if more {
		line += " …"
	}
	return line
}

// end sums up, and is an error if something was refused.
func (im *memoryImport) end(typed string) error {
	if im.left > 0 {
		im.a.notice("%d of the other kind left out; to import all: cairn memory import", im.left)
	}
	all := 0
	var parts []string
	for _, c := range []struct{ action, words string }{
		{entryNew, "new"}, {entryEdited, "edited"}, {entrySame, "there already"}, {entrySkipped, "skipped"}, {entryRefused, "refused"},
	} {
		if n := im.counts[c.action]; n > 0 {
			all += n
			parts = append(parts, strconv.Itoa(n)+" "+c.words)
		}
	}
	if all == 0 && im.left == 0 {
		return fail(ExitNotFound, "there is nothing to import in %s", typed)
	}
	if !im.a.flags.json && len(parts) > 0 {
		sum := strings.Join(parts, ", ")
		if im.dry {
			sum += "; nothing was changed (--dry-run)"
		}
		im.a.out.line("%s", sum)
	}
	if n := im.counts[entryRefused]; n > 0 {
		return fail(ExitFailed, "%d refused, see above", n)
	}
	return nil
}
