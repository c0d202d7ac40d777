package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/memory"
	"cairn/harness/model"
	engines "cairn/harness/run"
	"cairn/harness/tool"
	"cairn/harness/tool/result"
	"cairn/storage/bolt"
)

// flooded is a result of 5 MB in one line, with a word in it that is there once.
func flooded() string {
	var b strings.Builder
	for i := 0; b.Len() < 5<<20; i++ {
		fmt.Fprintf(&b, "%d bottles of beer; ", i)
		if i == 100_000 {
			b.WriteString("a needle lies here; ")
		}
	}
	return b.String()
}

var largeNote = regexp.MustCompile(`read or search it with read_tool_result and the id ([0-9a-f]+)`)

// reader is a model that makes the calls that it is given, with the id of the large
// result that it was shown, and notes what it got.
type reader struct {
	calls []string // arguments of read_tool_result, ID for the id
	id    string
	got   []string
	most  int
}

func (r *reader) Stream(_ context.Context, req model.Request, _ func(model.Delta)) (model.Reply, error) {
	raw, err := json.Marshal(req)
	if err != nil {
		return model.Reply{}, err
	}
	r.most = max(r.most, len(raw))
	last := req.Messages[len(req.Messages)-1]
	if last.Role == harness.RoleTool {
		r.got = append(r.got, last.Parts[0].Result.Text)
		if m := largeNote.FindStringSubmatch(last.Parts[0].Result.Text); m != nil {
			r.id = m[1]
		}
	}
	call := harness.ToolCall{Name: "flood", Input: json.RawMessage(`{}`)}
	switch {
	case r.id == "":
	case len(r.calls) == 0:
		return text("done"), nil
	default:
		call.Name, call.Input = tool.ReadResult, json.RawMessage(strings.ReplaceAll(r.calls[0], "ID", r.id))
		r.calls = r.calls[1:]
	}
	return model.Reply{Parts: []harness.Part{{Kind: harness.PartCall, Call: &call}}, Stop: harness.StopTools}, nil
}

// asks runs one turn in a program of its own.
func (r *reader) asks(t *testing.T, path string) {
	t.Helper()
	db, err := bolt.Open(path, bolt.Options{Purpose: "test"})
	if err != nil {
		t.Fatal(err)
	}
	set := &tool.Set{Artifacts: db.Artifacts()}
	flood := tool.Tool{Name: "flood", Permission: tool.Allow, Run: func(context.Context, tool.Call) (string, error) { return flooded(), nil }}
	if err := errors.Join(set.Add(flood), result.Register(set, db.Artifacts())); err != nil {
		t.Fatal(err)
	}
	engine := engines.NewLocal(engines.Options{
		Journal: db.Journal(), Transcript: db.Transcript(), Sessions: db.Sessions(), Engine: bolt.Engine,
		Steps: func(context.Context, harness.RunConfig) (agent.Steps, error) {
			return agent.Steps{
				Model: r, Info: model.Info{ID: "mock/m", Window: 64_000}, Tools: set,
				Compose: (&memory.Composer{Artifacts: db.Artifacts()}).Compose,
			}, nil
		},
	})
	lease, err := db.Owners().Acquire(t.Context(), harness.Session{ID: "large"}, harness.Holder{Purpose: "test"})
	if err != nil {
		t.Fatal(err)
	}
	h, err := engine.Start(t.Context(), harness.StartRequest{Lease: lease, Message: harness.UserText("go"), Config: harness.RunConfig{Model: "mock/m"}})
	if err != nil {
		t.Fatal(err)
	}
	if res, err := h.Wait(t.Context()); err != nil || res.Status != harness.RunCompleted {
		t.Errorf("result %+v (%+v), %v", res, res.Error, err)
	}
	if err := errors.Join(engine.Close(t.Context()), db.Owners().Release(t.Context(), lease), db.Close()); err != nil {
		t.Error(err)
	}
}

func TestResultOfFiveMegabytesInOneLineIsReadPieceByPiece(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "cairn.db")
	whole := flooded()
	at := strings.Index(whole, "a needle")
	first := &reader{calls: []string{
		fmt.Sprintf(`{"id":"ID","char_offset":%d,"max_chars":400}`, at-100),
		`{"id":"ID","search":"needle"}`,
	}}
	first.asks(t, path)
	if len(first.got) != 3 {
		t.Fatalf("the model got %d results: %.300q", len(first.got), first.got)
	}
	if preview := first.got[0]; len(preview) > 4_000 || !strings.Contains(preview, "0 bottles of beer") || !strings.Contains(preview, whole[len(whole)-20:]) {
		t.Errorf("the preview is %d bytes: %.300s", len(preview), preview)
	}
	if page := first.got[1]; !strings.Contains(page, whole[at-100:at+300]) || len(page) > 1_000 {
		t.Errorf("the page is %.600s", page)
	}
	if found := first.got[2]; !strings.Contains(found, "a needle lies here") || len(found) > 12_000 {
		t.Errorf("the search gives %.600s", found)
	}
	if first.most > 64_000 {
		t.Errorf("a request has %d bytes", first.most)
	}

	again := &reader{id: first.id, calls: []string{fmt.Sprintf(`{"id":"ID","char_offset":%d,"max_chars":300}`, len(whole)-200)}}
	again.asks(t, path)
	if len(again.got) != 1 || !strings.Contains(again.got[0], whole[len(whole)-200:]) {
		t.Errorf("after a restart the model got %.600q", again.got)
	}
}
