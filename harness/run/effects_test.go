package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/run"
	"cairn/harness/tool"
)

// twice is a tool that saves two facts and keeps a long result.
func twice(t *testing.T, v *run.CarriedView) *tool.Set {
	t.Helper()
	tl, err := tool.New("twice", "saves two facts", func(ctx context.Context, c tool.Call, _ struct{}) (string, error) {
		_, _, err := v.Facts().Save(ctx, harness.Fact{Text: "one"}, c.Key)
		_, created, err2 := v.Facts().Save(ctx, harness.Fact{Text: "one again"}, c.Key)
		_, _, err3 := v.Facts().Save(ctx, harness.Fact{Text: "two"}, c.Key+" b")
		if created {
			t.Error("one key saved twice")
		}
		return strings.Repeat("x\n", 20_000), errors.Join(err, err2, err3)
	})
	if err != nil {
		t.Fatal(err)
	}
	set := new(tool.Set)
	if err := set.Add(tl); err != nil {
		t.Fatal(err)
	}
	return set
}

func TestDeskHoldsWhatEntriesTakeAlongUntilTheyAreStored(t *testing.T) {
	t.Parallel()
	d := run.NewDesk("r", run.Carried{}, nil, nil, nil)
	set := d.Tools(twice(t, run.CarriedMemory(run.Carried{})))
	ctx := d.Context(t.Context())
	c := harness.ToolCall{ID: "c1", Name: "twice", Input: json.RawMessage("{}")}
	r := set.Run(ctx, c, tool.Call{Key: "c1"})
	if r.Failed || r.Artifact == "" {
		t.Fatalf("the result is %+v", r)
	}
	if data, err := run.AwayArtifacts(nil).Get(ctx, "s", r.Artifact[:16]); err != nil || len(data) != 40_000 {
		t.Errorf("before its entry is stored it is %d bytes, %v", len(data), err)
	}
	entries := []run.Entry{
		entry(t, loop.Ended{Message: loop.Result(harness.ToolCall{ID: "c0"}, "other", false, false)}),
		entry(t, loop.Ended{Message: harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &r}}}}),
	}
	for range 2 { // a try that failed leaves all of it
		packed, artifacts := d.Pack(4, true, entries)
		if len(packed[0].Effects) != 0 || len(packed[1].Effects) != 2 || len(artifacts) != 1 || harness.ArtifactName(artifacts[0]) != r.Artifact {
			t.Fatalf("taken along are %+v, %d artifacts", packed, len(artifacts))
		}
		if a, b := packed[1].Effects[0], packed[1].Effects[1]; a.Key != "c1" || b.Key != "c1_2" || a.Fact.Text != "one" || b.Fact.Text != "two" {
			t.Errorf("the effects are %+v and %+v", a, b)
		}
		if len(entries[1].Effects) != 0 {
			t.Error("the entries that were given are changed")
		}
	}
	packed, _ := d.Pack(4, true, entries)
	d.Stored(packed)
	if again, artifacts := d.Pack(4, true, entries); len(again[1].Effects) != 0 || len(artifacts) != 0 {
		t.Errorf("it is taken along twice: %+v", again)
	}
}

func TestAnswerSaysWhatItUsedWhereTheStoreIsElsewhere(t *testing.T) {
	t.Parallel()
	d := run.NewDesk("r", run.Carried{}, nil, nil, nil)
	m := &harness.Message{Role: harness.RoleAssistant, Used: []string{"f1", "n2", "new-r_1_1"}, Parts: []harness.Part{{Kind: harness.PartText, Text: "x"}}}
	answer := []run.Entry{entry(t, loop.Answered{Message: m, Stop: harness.StopEnd})}
	packed, _ := d.Pack(4, true, answer)
	if e := packed[0].Effects; len(e) != 1 || e[0].Kind != harness.EffectUsed || !slices.Equal(e[0].IDs, []string{"f1", "new-r_1_1"}) || e[0].Key == "" {
		t.Errorf("the effects are %+v", e)
	}
	if packed, _ := d.Pack(4, false, answer); len(packed[0].Effects) != 0 {
		t.Errorf("at home they are %+v", packed[0].Effects)
	}
}

func TestClaimThatIsOverKeepsToolsFromRunning(t *testing.T) {
	t.Parallel()
	d := run.NewDesk("r", run.Carried{}, nil, nil, func() error { return harness.ErrLost })
	set := d.Tools(twice(t, run.CarriedMemory(run.Carried{})))
	c := harness.ToolCall{ID: "c1", Name: "twice", Input: json.RawMessage("{}")}
	if r := set.Run(d.Context(t.Context()), c, tool.Call{Key: "c1"}); !r.Failed || !strings.HasPrefix(r.Text, "not run: ") {
		t.Errorf("the result is %+v", r)
	}
	packed, _ := d.Pack(1, true, []run.Entry{entry(t, loop.Ended{Message: loop.Result(c, "", false, false)})})
	if len(packed[0].Effects) != 0 {
		t.Errorf("it left %+v", packed[0].Effects)
	}
}

// shelf2 is an artifact store of a process.
type shelf2 struct{ harness.Artifacts }

func (shelf2) Put(context.Context, harness.SessionID, []byte) (string, error) { return "own", nil }

func (shelf2) Get(context.Context, harness.SessionID, string) ([]byte, error) {
	return []byte("own"), nil
}

func TestArtifactsOfTheProcessAreUsedWhereNoRunIsDriven(t *testing.T) {
	t.Parallel()
	a := run.AwayArtifacts(shelf2{})
	if name, err := a.Put(t.Context(), "s", []byte("x")); err != nil || name != "own" {
		t.Errorf("put says %q, %v", name, err)
	}
	ctx := run.NewDesk("r", run.Carried{}, nil, nil, nil).Context(t.Context())
	name, err := a.Put(ctx, "s", []byte("x"))
	if err != nil || name != harness.ArtifactName([]byte("x")) {
		t.Errorf("at a desk it says %q, %v", name, err)
	}
	if data, err := a.Get(ctx, "s", name[:12]); err != nil || string(data) != "x" {
		t.Errorf("at a desk it is %q, %v", data, err)
	}
	if data, err := a.Get(ctx, "s", strings.Repeat("0", 64)); err != nil || string(data) != "own" {
		t.Errorf("what the run does not have is %q, %v", data, err)
	}
	if _, err := a.Get(ctx, "s", "abc"); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("too few digits are %v", err)
	}
}
