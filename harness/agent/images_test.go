package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
	"cairn/harness/tool"
)

// drawing is a set with the tool echo, which gives two images and fails as it is told.
func drawing(t *testing.T, fail error) *tool.Set {
	t.Helper()
	set := &tool.Set{Artifacts: album{}}
	err := set.Add(tool.Tool{
		Name: "echo", Permission: tool.Allow, Schema: []byte(`{"type":"object"}`),
		Run: func(_ context.Context, c tool.Call) (string, error) {
			for _, name := range []string{"plan", "secret"} {
				if !c.Show(harness.File{Name: name, MediaType: "image/png", Width: 1, Height: 1, Data: []byte(name)}) {
					return "", errors.New("it was not taken")
				}
			}
			return "a secret", fail
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// album takes everything.
type album struct{}

func (album) Put(_ context.Context, _ harness.SessionID, data []byte) (string, error) {
	return harness.ArtifactName(data), nil
}

func TestMiddlewareSeesImagesOfResultsFirst(t *testing.T) {
	t.Parallel()
	hide := func(r harness.ToolResult) (harness.ToolResult, error) {
		r.Text = strings.ReplaceAll(r.Text, "secret", "****")
		var open []harness.File
		for _, f := range r.Files {
			if f.Name != "secret" && len(f.Data) > 0 {
				open = append(open, f)
			}
		}
		r.Files = open
		return r, nil
	}
	withhold := func(r harness.ToolResult) (harness.ToolResult, error) {
		return r, tool.Failure("nobody may see that")
	}
	for what, c := range map[string]struct {
		result func(harness.ToolResult) (harness.ToolResult, error)
		fail   error
		text   string
		images string
	}{
		"as it is":           {nil, nil, "a secret", "plan secret"},
		"hidden":             {hide, nil, "a ****", "plan"},
		"a failure":          {nil, tool.Failure("a secret\nfailed"), "a secret\nfailed", "plan secret"},
		"a failure, hidden":  {hide, tool.Failure("a secret\nfailed"), "a ****\nfailed", "plan"},
		"withheld":           {withhold, nil, "nobody may see that", ""},
		"a failure withheld": {withhold, tool.Failure("a secret"), "nobody may see that", ""},
	} {
		a, err := agent.New(agent.Options{
			Model: signedCall(nil), Info: model.Info{ID: "mock/m", Images: true}, Tools: drawing(t, c.fail),
			Extensions: []agent.Extension{between{plain: plain{"hides"}, result: c.result}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Run(t.Context(), "draw"); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		var names []string
		text := ""
		for _, m := range a.Messages() {
			for _, p := range m.Parts {
				if p.Result == nil {
					continue
				}
				text = p.Result.Text
				for _, f := range p.Result.Files {
					names = append(names, f.Name)
				}
			}
		}
		if text != c.text || strings.Join(names, " ") != c.images {
			t.Errorf("%s: the result is %q with the images %q", what, text, names)
		}
	}
}
