package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"cairn/harness"
	"cairn/harness/tool"
)

func named(names ...string) []tool.Tool {
	var all []tool.Tool
	for _, name := range names {
		all = append(all, tool.Tool{Name: name, Run: func(context.Context, tool.Call) (string, error) { return name, nil }})
	}
	return all
}

func TestAGroupIsReplacedInItsPlace(t *testing.T) {
	t.Parallel()
	var set tool.Set
	for _, own := range named("read", "write") {
		if err := set.Add(own); err != nil {
			t.Fatal(err)
		}
	}
	set.Group("a", named("a_one", "a_two"))
	set.Group("b", named("b_one"))
	set.Group("a", named("a_zero", "a_two"))
	if got, want := set.Names(), []string{"read", "write", "a_zero", "a_two", "b_one"}; !slices.Equal(got, want) {
		t.Fatalf("the tools are %q, want %q", got, want)
	}
	if _, ok := set.Lookup("a_one"); ok {
		t.Fatal("a tool that is no longer in its group is found")
	}
	if got, ok := set.Lookup("b_one"); !ok || got.Name != "b_one" {
		t.Fatalf("the name b_one finds %q", got.Name)
	}
	set.Group("a", nil)
	if got, want := set.Names(), []string{"read", "write", "b_one"}; !slices.Equal(got, want) {
		t.Fatalf("the tools are %q, want %q", got, want)
	}
}

func TestAGroupTakesNoNameOfOthers(t *testing.T) {
	t.Parallel()
	var set tool.Set
	if err := set.Add(named("read")[0]); err != nil {
		t.Fatal(err)
	}
	refused := set.Group("a", append(named("read", "fine", "fine"), tool.Tool{Name: "no function"}))
	if got, want := set.Names(), []string{"read", "fine"}; !slices.Equal(got, want) {
		t.Fatalf("the tools are %q, want %q", got, want)
	}
	if len(refused) != 3 || !errors.Is(refused[0], tool.ErrDuplicate) || !errors.Is(refused[2], tool.ErrDuplicate) || !errors.Is(refused[3], tool.ErrInvalid) {
		t.Fatalf("refused are %v", refused)
	}
}

func TestASourceIsPartOfWhatAToolIs(t *testing.T) {
	t.Parallel()
	plain := tool.Tool{Name: "search", Description: "Search.", Schema: json.RawMessage(`{"type":"object"}`)}
	one, other := plain, plain
	one.Source, other.Source = "one", "other"
	if plain.Fingerprint() == one.Fingerprint() || one.Fingerprint() == other.Fingerprint() {
		t.Fatal("tools of different sources have the same fingerprint")
	}
	if got, want := plain.Fingerprint(), "1da9b88a7b25439f4259cd17375990b747d60ca9a4e76527923808db12dfc1d7"; got != want {
		t.Fatalf("the fingerprint of a tool without a source is %q, and grants name %q", got, want)
	}
}

func TestAnUncertainErrorMakesAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	var set tool.Set
	if err := set.Add(tool.Tool{Name: "x", Run: func(context.Context, tool.Call) (string, error) {
		return "", tool.Uncertain(errors.New("it went away, outcome unknown"))
	}}); err != nil {
		t.Fatal(err)
	}
	r := set.Run(t.Context(), harness.ToolCall{ID: "c1", Name: "x"}, tool.Call{})
	if !r.Failed || !r.Unknown || r.Text != "it went away, outcome unknown" {
		t.Fatalf("the result is %+v", r)
	}
	if tool.Uncertain(nil) != nil {
		t.Fatal("no error became one")
	}
}
