package agent_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"testing"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
	"cairn/harness/snapshot"
	"cairn/harness/tool"
)

// picture is a PNG of one pixel.
func picture(t *testing.T) []byte {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// seesFiles counts the files with these bytes in each request.
func seesFiles(data []byte, seen *[]int) answering {
	return func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
		n := 0
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				if p.Kind == harness.PartFile && bytes.Equal(p.File.Data, data) {
					n++
				}
			}
		}
		*seen = append(*seen, n)
		return echo(ctx, r, emit)
	}
}

func TestFilesAreSentInEveryLaterRequest(t *testing.T) {
	t.Parallel()
	data := picture(t)
	look := harness.Message{Role: harness.RoleUser, Parts: []harness.Part{
		{Kind: harness.PartText, Text: "What is this?"},
		{Kind: harness.PartFile, File: &harness.File{Name: "a.png", MediaType: "image/png", Width: 1, Height: 1, Data: data}},
	}}
	for name, apart := range map[string]bool{"with the conversation": false, "where the tools keep results": true} {
		var seen []int
		store := memoryStore(t)
		options := func() agent.Options {
			set := new(tool.Set)
			if apart {
				set.Artifacts = snapshot.Artifacts{Store: store}
			}
			return agent.Options{Model: seesFiles(data, &seen), Tools: set, Info: model.Info{ID: "mock/m", Images: true}}
		}
		// An agent of one process, saved and loaded.
		a, err := agent.New(options())
		if err != nil {
			t.Fatal(err)
		}
		_, first := a.Send(t.Context(), look, nil)
		_, then := a.Run(t.Context(), "And now?")
		id, saved := a.SaveSession(t.Context(), store)
		if err := errors.Join(first, then, saved); err != nil {
			t.Fatal(err)
		}
		again, err := agent.LoadSession(t.Context(), string(id), store, options())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := again.Run(t.Context(), "And here?"); err != nil {
			t.Fatal(err)
		}
		// One that keeps all as it goes, opened again.
		for i := range 2 {
			b, err := agent.Open(t.Context(), agent.Session{ID: "kept", Store: agent.Snapshots(store)}, options())
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				_, err = b.Send(t.Context(), look, nil)
			} else {
				_, err = b.Run(t.Context(), "And here?")
			}
			if err := errors.Join(err, b.Close()); err != nil {
				t.Fatal(err)
			}
		}
		for i, n := range seen {
			if n != 1 {
				t.Errorf("%s: request %d of %d holds the picture %d times", name, i+1, len(seen), n)
			}
		}
		for _, id := range []string{string(id), "kept"} {
			d, err := snapshot.Load(t.Context(), store, id, snapshot.Want{})
			if err != nil || len(d.Artifacts) != 1 || d.Artifacts[0].MediaType != "image/png" {
				t.Fatalf("%s: %d artifacts, %v", name, len(d.Artifacts), err)
			}
			if f := d.Records[0].Message.Parts[1].File; f.Data != nil || f.Artifact != d.Artifacts[0].SHA256 || f.Size != int64(len(data)) {
				t.Errorf("%s: stored is %+v", name, f)
			}
		}
	}
}

func TestOnlyAUsersMessageIsSent(t *testing.T) {
	t.Parallel()
	a, err := agent.New(agent.Options{Model: answering(echo)})
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]harness.Message{
		"nothing":       {},
		"blank":         harness.UserText(" \n"),
		"an answer":     harness.AssistantText("yes"),
		"a call":        {Role: harness.RoleUser, Parts: []harness.Part{{Kind: harness.PartCall, Call: &harness.ToolCall{Name: "x"}}}},
		"no file":       {Role: harness.RoleUser, Parts: []harness.Part{{Kind: harness.PartFile}}},
		"another's sum": {Role: harness.RoleUser, Parts: []harness.Part{{Kind: harness.PartFile, File: &harness.File{Data: []byte("x"), Artifact: "abc"}}}},
	} {
		if _, err := a.Send(t.Context(), m, nil); err == nil {
			t.Errorf("%s was sent", name)
		}
	}
	if n := len(a.Messages()); n != 0 {
		t.Errorf("%d messages are stored", n)
	}
}
