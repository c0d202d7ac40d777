package attach

import (
	"context"
	"strings"
	"testing"

	"cairn/harness"
)

// note is what a mention of a note with a body sends, and what is said of that.
func note(t *testing.T, body string) (text, said string) {
	t.Helper()
	s := Sources{Notes: notes{"n1": {ID: "n1", Title: "Glossary", Body: body}}}
	text, err := s.text(t.Context(), kindNote, "n1", false)
	if err != nil {
		t.Fatal(err)
	}
	return text, shortOf("note:n1", harness.Part{Kind: harness.PartText, Text: text})
}

func TestOnlyWhatIsCutIsSaidToBeCut(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "one", "Only cats\nare here.", "Only cats are here.", "## Heading\n\nOnly a few\n", strings.Repeat("x", sourceMax/2)} {
		if _, said := note(t, body); said != "" {
			t.Errorf("of %.30q it is said: %s", body, said)
		}
	}
	text, said := note(t, "Only cats\n\n## Heading\n\n"+strings.Repeat("x", sourceMax))
	if !strings.HasPrefix(said, "@note:n1: only the first 49152 of ") || !strings.HasSuffix(said, " bytes are sent") {
		t.Errorf("of %d bytes it is said: %s", len(text), said)
	}
}

// notes are the notes of a store.
type notes map[string]harness.Note

func (n notes) Get(_ context.Context, id string) (harness.Note, error) { return n[id], nil }

func (n notes) List(context.Context, harness.MemoryFilter) ([]harness.Note, error) { return nil, nil }
