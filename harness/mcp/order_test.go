package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestAProgramIsAskedForInItsOwnOrder(t *testing.T) {
	t.Parallel()
	const question = `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"Well?",%s"requestedSchema":{"type":"object","properties":%s,"required":["b"]}}}`
	text := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"f%03d":{"type":"string"}`, n-i))
		}
		return "{" + strings.Join(all, ",") + "}"
	}
	for properties, want := range map[string]string{
		`{"host":{"type":"string"},"b":{"type":"integer"},"a":{"type":"boolean"}}`:   "host b a",
		`{"z":{"type":"string"},"a":{"type":"string","properties":{"z":{},"b":{}}}}`: "z a",
		`{"z":{"type":"string"},"z":{"type":"string"},"\u0061":{"type":"string"}}`:   "z a",
		`{}`:                    "",
		`{"b":{"type":"null"}}`: "refused",
		text(3):                 "f003 f002 f001",
		text(maxFields + 1):     "refused",
	} {
		for _, meta := range []string{"", `"_meta":{"cairn/order":["a",3,"nope","a"],"other":1},`, `"_meta":null,`} {
			all, _ := messages(t, strings.NewReader(fmt.Sprintf(question, meta, properties)+"\n"))
			if len(all) != 1 {
				t.Fatalf("%d messages", len(all))
			}
			var p sdk.ElicitParams
			if err := json.Unmarshal(all[0].(*jsonrpc.Request).Params, &p); err != nil {
				t.Fatal(err)
			}
			got := ""
			asked, _, err := fields(p.RequestedSchema, orderOf(p.Meta))
			for _, f := range asked {
				got += " " + f.Name
			}
			if err != nil {
				got = "refused"
			}
			if got = strings.TrimSpace(got); got != want {
				t.Errorf("%.80s with %s: asked for %q, not %q", properties, meta, got, want)
			}
			if meta != "" && strings.Contains(meta, "other") && p.Meta["other"] != 1.0 {
				t.Errorf("what else the question held became %v", p.Meta)
			}
		}
	}
}

func TestWhatIsNoQuestionStaysAsItIs(t *testing.T) {
	t.Parallel()
	for _, params := range []string{`[]`, `{}`, `{"requestedSchema":3}`, `{"requestedSchema":{"properties":[1]}}`, `{"requestedSchema":{"properties":{"a":1}},"_meta":3}`} {
		all, junk := messages(t, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":`+params+"}\n"))
		if len(all) != 1 || string(all[0].(*jsonrpc.Request).Params) != params {
			t.Errorf("%s became %v, %q", params, all, junk)
		}
	}
}
