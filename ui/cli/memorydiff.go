package cli

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"cairn/harness"
	"cairn/harness/memory/markdown"
)

// factEdit is what makes have what an entry of a file says, and whether that is
// anything. White space at the end, which editors take off, is nothing.
func factEdit(have harness.Fact, e markdown.Entry) (edit harness.FactEdit, differs bool) {
	want := *e.Fact
	if trimEnd(want.Text) != trimEnd(have.Text) {
		edit.Text, differs = &want.Text, true
	}
	if want.Category != have.Category {
		edit.Category, differs = &want.Category, true
	}
	if e.Bare {
		return edit, differs
	}
	if !sameTags(want.Tags, have.Tags) {
		list := cleanTags(want.Tags)
		edit.Tags, differs = &list, true
	}
	if want.Pinned != have.Pinned {
		edit.Pinned, differs = &want.Pinned, true
	}
	if state := stateOf(want.State); state != have.State {
		edit.State, differs = &state, true
	}
	return edit, differs
}

// noteEdit is factEdit for notes. A line end at the end of the body, which editors
// add, is nothing.
func noteEdit(have harness.Note, e markdown.Entry) (edit harness.NoteEdit, differs bool) {
	want := *e.Note
	if want.Title != have.Title {
		edit.Title, differs = &want.Title, true
	}
	if oneEnd(want.Body) != oneEnd(have.Body) {
		edit.Body, differs = &want.Body, true
	}
	if !sameTags(want.Tags, have.Tags) {
		list := cleanTags(want.Tags)
		edit.Tags, differs = &list, true
	}
	if want.Pinned != have.Pinned {
		edit.Pinned, differs = &want.Pinned, true
	}
	if state := stateOf(want.State); state != have.State {
		edit.State, differs = &state, true
	}
	return edit, differs
}

// stateOf is a state in a file, where active may be left out.
func stateOf(s harness.FactState) harness.FactState {
	if s == "" {
		return harness.StateActive
	}
	return s
}

func trimEnd(text string) string { return strings.TrimRightFunc(text, unicode.IsSpace) }

func oneEnd(text string) string { return strings.TrimSuffix(text, "\n") }

// cleanTags are tags as they are stored.
func cleanTags(list []string) []string {
	clean := []string{}
	for _, t := range list {
		if t = strings.TrimSpace(t); t != "" && !slices.Contains(clean, t) {
			clean = append(clean, t)
		}
	}
	return clean
}

// sameTags reports whether two lists are the same tags in any order.
func sameTags(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(cleanTags(a))), slices.Sorted(slices.Values(cleanTags(b))))
}

// factKey is what facts have in common that are the same here: what [sameText] says,
// and for a text of punctuation alone, which never counts as another, the text.
func factKey(text string) string {
	if same := sameText(text); same != "" {
		return same
	}
	return "\x00" + text
}

// sameMoment reports whether a file and the store mean the same time of creation,
// which tells a fact or note from those of other stores, which count from 1 as
// well. Editors that know dates drop the part of a second; a file without the time
// means ours.
func sameMoment(file, here time.Time) bool {
	if file.Nanosecond() == 0 {
		here = here.Truncate(time.Second)
	}
	return file.IsZero() || file.Equal(here)
}

// sameText is what texts have in common that count as one fact, by the rule that
// [harness.Facts] gives. The store has the last word; this tells before it is asked.
func sameText(text string) string {
	folded := norm.NFC.String(cases.Fold().String(norm.NFC.String(text)))
	return strings.TrimRightFunc(strings.Join(strings.Fields(folded), " "), func(r rune) bool {
		return unicode.IsPunct(r) || unicode.IsSpace(r)
	})
}

// sameNote is what notes have in common that are the same but for their ids.
func sameNote(n harness.Note) string {
	parts := append([]string{n.Title, oneEnd(n.Body)}, slices.Sorted(slices.Values(cleanTags(n.Tags)))...)
	return strings.Join(parts, "\x00")
}
