package rules_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"cairn/harness"
	"cairn/storage/index"
	"cairn/storage/internal/rules"
)

func TestOnlyMessagesThatWereSaidAreDocuments(t *testing.T) {
	t.Parallel()
	said := harness.UserText("hello")
	said.Name = "Ana"
	notice := harness.AssistantText("the model changed")
	notice.Mark = harness.MarkNotice
	for name, r := range map[string]harness.Record{
		"a notice":        {Seq: 1, Kind: harness.RecordMessage, Message: &notice},
		"no message":      {Seq: 1, Kind: harness.RecordMessage},
		"a configuration": {Seq: 1, Kind: harness.RecordConfig, Message: &said},
	} {
		if d, ok := rules.Document("s", r); ok {
			t.Errorf("%s is %+v", name, d)
		}
	}
	at := time.Unix(1e9, 0)
	want := index.Doc{Session: "s", Message: 3, Speaker: "Ana", At: at, Text: "hello"}
	if d, ok := rules.Document("s", harness.Record{Seq: 3, At: at, Kind: harness.RecordMessage, Message: &said}); !ok || d != want {
		t.Errorf("a message is %+v, %v; want %+v", d, ok, want)
	}
}

func TestHitsHaveAnExcerptOfTheirMessage(t *testing.T) {
	t.Parallel()
	q := index.NewQuery("needle")
	found := []index.Match{{Session: "a", Message: 2, Score: 3}, {Session: "b", Message: 1, Score: 1}}
	hits, err := rules.Hits(q, found, func(session string, _ int) (string, error) {
		return session + strings.Repeat(" hay", 200) + " needle", nil
	})
	if err != nil || len(hits) != 2 || hits[0].Session != "a" || hits[0].Message != 2 || hits[0].Score != 3 {
		t.Fatalf("hits %+v, %v", hits, err)
	}
	for _, h := range hits {
		if n := utf8.RuneCountInString(h.Excerpt); n > 200 || !strings.Contains(h.Excerpt, "needle") {
			t.Errorf("excerpt of %d characters: %q", n, h.Excerpt)
		}
	}
	gone := errors.New("gone")
	if _, err := rules.Hits(q, found, func(string, int) (string, error) { return "", gone }); !errors.Is(err, gone) {
		t.Errorf("the reader's error is %v", err)
	}
}
