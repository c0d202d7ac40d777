package memory

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/model"
)

// drawing is a turn in which a tool gave images.
func drawing(shas ...string) []harness.Message {
	r := &harness.ToolResult{CallID: "c", Name: "draw", Text: "drawn"}
	for _, sha := range shas {
		r.Files = append(r.Files, harness.File{Name: "image " + sha, MediaType: "image/png", Artifact: sha, Size: 9, Width: 1_000, Height: 1_000})
	}
	return []harness.Message{
		user("draw"),
		{Role: harness.RoleAssistant, Parts: []harness.Part{{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "c", Name: "draw", Input: []byte("{}")}}}},
		{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: r}}},
	}
}

func TestImagesOfResultsAreInTheRequestOrSaidNotToBe(t *testing.T) {
	t.Parallel()
	v := &vault{files: map[string][]byte{"s/aa": []byte("one"), "s/bb": []byte("two")}}
	reads := model.Info{Images: true, Window: 1_000_000}
	for name, c := range map[string]struct {
		in   In
		want string
		text []string
	}{
		"both":             {In{Turn: drawing("aa", "bb"), Info: reads}, "one two", nil},
		"earlier":          {In{History: records(drawing("aa")...), Turn: []harness.Message{user("and?")}, Info: reads}, "one", nil},
		"one is gone":      {In{Turn: drawing("cc", "aa"), Info: reads}, "one", []string{`"image cc"`, "is not shown: it is not stored any more"}},
		"a blind model":    {In{Turn: drawing("aa"), Info: model.Info{Window: 1_000_000}}, "", []string{`"image aa", image/png`, "does not read"}},
		"refused":          {In{Turn: drawing("aa"), Info: reads, Bare: true}, "", []string{"a request that had it was refused"}},
		"the newest first": {In{Turn: drawing(slices.Concat(slices.Repeat([]string{"aa"}, 3), slices.Repeat([]string{"bb"}, MaxImages))...), Info: reads}, strings.TrimSpace(strings.Repeat("two ", MaxImages)), []string{"there are newer files"}},
	} {
		before := fmt.Sprintf("%+v", c.in)
		c.in.Session = "s"
		out := compose(t, &Composer{Artifacts: v}, c.in)
		if err := Legal(out.Request.Messages); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var r *harness.ToolResult
		for _, m := range out.Request.Messages {
			if m.Role == harness.RoleTool {
				r = m.Parts[0].Result
			}
		}
		var got []string
		for _, f := range r.Files {
			got = append(got, string(f.Data))
		}
		if strings.Join(got, " ") != c.want || !strings.HasPrefix(r.Text, "drawn") {
			t.Errorf("%s: the result is %q with %q", name, r.Text, got)
		}
		for _, want := range c.text {
			if !strings.Contains(r.Text, want) {
				t.Errorf("%s: no %q in %q", name, want, r.Text)
			}
		}
		c.in.Session = ""
		if after := fmt.Sprintf("%+v", c.in); after != before {
			t.Errorf("%s: what is stored changed", name)
		}
	}
}

func TestImagesOfResultsAreCountedAndLeftOutWithThem(t *testing.T) {
	t.Parallel()
	with, without := drawing("aa", "bb")[2], drawing()[2]
	if d := Estimate(with) - Estimate(without); d < 2*leastImage {
		t.Errorf("two images cost %d", d)
	}
	pruned, n := Pruned(&with)
	if n != 1 || len(pruned.Parts[0].Result.Files) > 0 || pruned.Parts[0].Result.Text != "drawn\n(Its images are left out to save room.)" || len(with.Parts[0].Result.Files) != 2 {
		t.Errorf("pruned to %+v", pruned.Parts[0].Result)
	}
	if _, n := Pruned(&without); n != 0 {
		t.Error("a short result was pruned")
	}
	m := drawing("aa", "bb")[2]
	m.Parts[0].Result.Text = strings.Repeat("x", 500)
	if saved, n := clearResults(&m); n != 1 || saved <= 0 || !strings.Contains(m.Parts[0].Result.Text, "500 characters and 2 images") || len(m.Parts[0].Result.Files) > 0 {
		t.Errorf("cleared to %+v, %d saved", m.Parts[0].Result, saved)
	}
}
