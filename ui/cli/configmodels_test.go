package cli

import (
	"slices"
	"strings"
	"testing"
)

// What a model of one's own reads only its owner knows.
func TestModelsAreGivenTheFilesThatTheirOwnerSays(t *testing.T) {
	t.Parallel()
	s := home(t, "[models.\"ollama/llava:13b\"]\nimages = true\n\n[models.\"openai/gpt-4o\"]\ndocuments = false\nwindow = 9000\n", "", nil)
	c, err := loadConfig(s, "", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	env := Setup{Config: c, Getenv: s.Getenv}.Environment()
	for id, want := range map[string][2]bool{"ollama/llava:13b": {true, false}, "ollama/llava": {false, false}, "openai/gpt-4o": {true, false}, "openai/gpt-4o-mini": {true, true}} {
		if i := env.Catalogue.Info(id); i.Images != want[0] || i.Documents != want[1] {
			t.Errorf("%s: %+v", id, i)
		}
	}
	if err := env.Accepts("ollama/llava:13b", "image/png"); err != nil {
		t.Errorf("an image is refused: %v", err)
	}
	err = env.Accepts("ollama/llava:13b", "application/pdf")
	if err == nil || !strings.Contains(err.Error(), `set models."ollama/llava:13b".documents = true`) {
		t.Errorf("a document: %v", err)
	}
	var shown []string
	for _, v := range c.Values() {
		if strings.HasPrefix(v.Key, "models.") {
			shown = append(shown, v.Key+"="+v.Value)
		}
	}
	if want := []string{`models."ollama/llava:13b".images=true`, `models."openai/gpt-4o".window=9000`, `models."openai/gpt-4o".documents=false`}; !slices.Equal(shown, want) {
		t.Errorf("it shows %q", shown)
	}
}
