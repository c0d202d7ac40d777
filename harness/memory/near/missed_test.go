package near_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/memory/near"
)

// misses is why a search went by words alone, empty if it did not.
func (w *world) misses(query string) string {
	w.t.Helper()
	var m near.Missed
	_, err := w.finder().Search(w.db.Searcher()).Search(m.Attend(w.t.Context()), query, 10)
	w.ok(err)
	if m.Err() == nil {
		return ""
	}
	return m.Err().Error()
}

func TestWhoAttendsToASearchIsToldWhyItWentByWordsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("words", "doctor appointment")
	if got := w.misses("doctor"); got != "there are no vectors of ollama/meaning yet; to make them: cairn memory index --update" {
		t.Errorf("without vectors: %q", got)
	}
	w.update()
	if got := w.misses("doctor"); got != "" {
		t.Errorf("with vectors: %q", got)
	}
	if got := w.misses("is it correct-horse-battery"); !strings.Contains(got, "which is not sent") {
		t.Errorf("with a password: %q", got)
	}
	w.service.refuse(1)
	for _, query := range []string{"physician", "clinic"} { // asked, and not asked again
		if got := w.misses(query); !strings.HasPrefix(got, "ollama/meaning cannot be asked: ") || !strings.Contains(got, "no such key") {
			t.Errorf("%s: %q", query, got)
		}
	}
	w.service.refuse(0)
	w.service.become(300)
	w.source = w.model("ollama/meaning")
	if got := w.misses("physician"); !strings.Contains(got, "cairn memory index --rebuild") {
		t.Errorf("with vectors of another length: %q", got)
	}
}

func TestTheFirstReasonOfSeveralSearchesIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("words", "doctor appointment")
	w.update()
	w.service.refuse(1)
	var m near.Missed
	ctx := m.Attend(t.Context())
	_, err := w.finder().Facts(w.db.Facts()).List(ctx, harness.MemoryFilter{Query: "doctor"})
	w.ok(err)
	w.service.refuse(0)
	later := time.Now().Add(time.Minute)
	w.source.Now = func() time.Time { return later }
	_, err = w.finder().Notes(w.db.Notes()).List(ctx, harness.MemoryFilter{Query: "doctor"})
	w.ok(err)
	if m.Err() == nil || !strings.Contains(m.Err().Error(), "no such key") {
		t.Errorf("got %v", m.Err())
	}
	// What looks nothing up by words misses nothing.
	var none near.Missed
	_, err = w.finder().Facts(w.db.Facts()).List(none.Attend(t.Context()), harness.MemoryFilter{})
	if errors.Join(err, none.Err()) != nil {
		t.Errorf("got %v", errors.Join(err, none.Err()))
	}
}
