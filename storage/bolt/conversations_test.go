package bolt_test

import (
	"context"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/agent/agenttest"
	llm "cairn/harness/model"
	"cairn/harness/snapshot"
	"cairn/storage/bolt"
)

func TestConversations(t *testing.T) {
	agenttest.TestStore(t, func(t *testing.T) agent.Store {
		t.Helper()
		c, err := bolt.OpenConversations(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
		return c
	})
}

func TestBlankDirectoryIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := bolt.OpenConversations(" \t"); err == nil {
		t.Error("a blank directory was taken")
	}
}

// counted is a model that says what its call used.
type counted struct{}

// Stream implements [model.Model].
func (counted) Stream(context.Context, llm.Request, func(llm.Delta)) (llm.Reply, error) {
	return llm.Reply{
		Parts: []harness.Part{{Kind: harness.PartText, Text: "yes"}}, Stop: harness.StopEnd,
		Usage: harness.Usage{Input: 10, Output: 2},
	}, nil
}

func TestAnAgentOfADatabaseBooksWhatItUsesAndSavesAllBranches(t *testing.T) {
	t.Parallel()
	db := newReopener(t).open()
	a, err := agent.Open(t.Context(), agent.Session{ID: "a", Store: db.Conversations()}, agent.Options{Model: counted{}, Info: llm.Info{ID: "p/m"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "two"} {
		if _, err := a.Run(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	s, err := db.Sessions().Get(t.Context(), "a")
	if want := (harness.Usage{Input: 20, Output: 4}); err != nil || s.Usage.Input != want.Input || s.Usage.Output != want.Output {
		t.Errorf("the session used %+v, %v", s.Usage, err)
	}
	days, err := db.Ledger().Days(t.Context(), time.Time{}, time.Now().AddDate(100, 0, 0))
	if err != nil || len(days) != 1 || days[0].Model != "p/m" || days[0].Usage.Input != 20 {
		t.Errorf("the days are %+v, %v", days, err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	lease, err := db.Owners().Acquire(t.Context(), harness.Session{ID: "a"}, harness.Holder{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Transcript().MoveHead(t.Context(), lease, 2); err != nil {
		t.Fatal(err)
	}
	if err := db.Owners().Release(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	if a, err = agent.Open(t.Context(), agent.Session{ID: "a", Store: db.Conversations()}, agent.Options{Model: counted{}, Info: llm.Info{ID: "p/m"}}); err != nil {
		t.Fatal(err)
	}
	store, err := snapshot.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.SaveSession(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := snapshot.Load(t.Context(), store, "a", snapshot.Want{})
	if err != nil || d.Head != 2 || len(d.Records) != 4 || len(d.Branch()) != 2 {
		t.Errorf("the snapshot ends at %d and has %d records, %v", d.Head, len(d.Records), err)
	}
}

// seeing is a model that keeps the files that a request has.
type seeing struct{ files *[]string }

// Stream implements [model.Model].
func (m seeing) Stream(_ context.Context, r llm.Request, _ func(llm.Delta)) (llm.Reply, error) {
	for _, said := range r.Messages {
		for _, p := range said.Parts {
			if p.File != nil {
				*m.files = append(*m.files, string(p.File.Data))
			}
		}
	}
	return llm.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: "I see"}}, Stop: harness.StopEnd}, nil
}

// TestAnAgentOfADatabaseSeesAndSavesFiles shows a picture, of which the database
// keeps the bytes apart, and takes the conversation elsewhere.
func TestAnAgentOfADatabaseSeesAndSavesFiles(t *testing.T) {
	t.Parallel()
	db := newReopener(t).open()
	var files []string
	o := agent.Options{Model: seeing{&files}, Info: llm.Info{ID: "p/m", Images: true}}
	a, err := agent.Open(t.Context(), agent.Session{ID: "a", Store: db.Conversations()}, o)
	ok(t, err)
	picture := "\x89PNG\r\n\x1a\n and more"
	m := harness.UserText("look")
	m.Parts = append(m.Parts, harness.Part{Kind: harness.PartFile, File: &harness.File{Name: "a.png", MediaType: "image/png", Data: []byte(picture)}})
	ok(t, a.SetMessages(t.Context(), []harness.Message{m, harness.AssistantText("yes")}))
	_, err = a.Run(t.Context(), "what is it?")
	ok(t, err)
	store, err := snapshot.Open(t.Context(), t.TempDir())
	ok(t, err)
	_, err = a.SaveSession(t.Context(), store)
	ok(t, err)
	ok(t, a.Close())
	d, err := snapshot.Load(t.Context(), store, "a", snapshot.Want{})
	ok(t, err)
	if len(d.Artifacts) != 1 || string(d.Artifacts[0].Data) != picture {
		t.Errorf("saved are %+v", d.Artifacts)
	}
	has(t, db, "a", []byte(picture))
	if a, err = agent.Open(t.Context(), agent.Session{ID: "a", Store: db.Conversations()}, o); err != nil {
		t.Fatal(err)
	}
	_, err = a.Run(t.Context(), "and now?")
	ok(t, err)
	ok(t, a.Close())
	if len(files) != 2 || files[0] != picture || files[1] != picture {
		t.Errorf("the model saw %q", files)
	}
}
