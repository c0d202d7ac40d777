package plain

import (
	"fmt"
	"slices"
	"strings"

	"cairn/ui/render"
)

// history writes the versions of what is on a line, the newest first, each with
// what changed in it, and asks which is to be the present one again.
func (k *keeper) history(i int) {
	id := k.found[i].id
	past, err := k.past(id)
	if err != nil {
		k.trouble(err)
		return
	}
	slices.Reverse(past)
	for n, t := range past {
		k.out.line(fmt.Sprintf("  %-3d version %d of %s (%s)", n+1, t.revision, t.when, strings.Join(t.about, ", ")))
		before := ""
		if n+1 < len(past) {
			before = past[n+1].text
			if past[n+1].title != t.title {
				k.out.line("      title was: " + render.SafeLine(past[n+1].title))
				k.out.line("      title is:  " + render.SafeLine(t.title))
			}
		}
		for _, l := range changes(before, t.text) {
			k.out.line("      " + l)
		}
	}
	help := "a number makes it so again; an empty line goes back"
	k.menu("history of "+id, len(past), help, func(w wish) bool {
		n, ok := k.meantOf(w, len(past))
		switch {
		case !ok:
			return false
		case n == 0:
			k.say("this is how it is now")
			return false
		}
		old := past[n]
		r := revised{text: &old.text}
		if k.notes {
			r.title = &old.title
		}
		k.change(i, r, fmt.Sprintf("is as it was in version %d again", old.revision))
		return true
	})
	k.read()
}

// past are the versions of a fact or note, the oldest first.
func (k *keeper) past(id string) (out []thing, err error) {
	if k.notes {
		all, err := k.Chat.Notes.History(k.ctx, id)
		for _, n := range all {
			out = append(out, k.ofNote(n))
		}
		if err != nil {
			return nil, fmt.Errorf("read the history of note %s: %w", id, err)
		}
		return out, nil
	}
	all, err := k.Chat.Facts.History(k.ctx, id)
	for _, f := range all {
		out = append(out, k.ofFact(f))
	}
	if err != nil {
		return nil, fmt.Errorf("read the history of fact %s: %w", id, err)
	}
	return out, nil
}

// changes says line by line what is no longer in a text and what is new in it.
func changes(before, now string) []string {
	old, lines := strings.Split(before, "\n"), strings.Split(now, "\n")
	if before == "" {
		old = nil
	}
	start := 0
	for start < len(old) && start < len(lines) && old[start] == lines[start] {
		start++
	}
	end := 0
	for end < len(old)-start && end < len(lines)-start && old[len(old)-1-end] == lines[len(lines)-1-end] {
		end++
	}
	var out []string
	for _, l := range old[start : len(old)-end] {
		out = append(out, "was: "+l)
	}
	for _, l := range lines[start : len(lines)-end] {
		out = append(out, "is:  "+l)
	}
	if len(out) == 0 {
		return []string{"the text is the same"}
	}
	return out
}
