package policy

import (
	"fmt"
	"testing"

	"cairn/harness"
	"cairn/harness/tool"
)

// BenchmarkJudge is one command against many rules.
func BenchmarkJudge(b *testing.B) {
	r := Rules{Interactive: true}
	for i := range 60 {
		r.Allow = append(r.Allow, rules(b, fmt.Sprintf("run_command(tool%d run)", i))...)
		r.Deny = append(r.Deny, rules(b, fmt.Sprintf("run_command(bad%d)", i))...)
	}
	tl, c := command("go test ./... 2>&1 | tail -20"), tool.Call{Dir: b.TempDir()}
	for b.Loop() {
		if v := r.Judge(b.Context(), c, tl, harness.ToolCall{}); v.Permission != tool.Ask {
			b.Fatal(v)
		}
	}
}
