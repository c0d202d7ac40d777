package tool_test

import (
	"context"
	"encoding/json"
	"fmt"

	"cairn/harness"
	"cairn/harness/tool"
)

func Example() {
	type in struct {
		City string `json:"city" jsonschema:"the city's name"`
	}
	weather, err := tool.New("weather", "Tell the weather in a city.", func(_ context.Context, _ tool.Call, in in) (string, error) {
		return "Rain in " + in.City, nil
	}, tool.WithPermission(tool.Allow), tool.WithReplay(tool.Safe))
	if err != nil {
		fmt.Println(err)
		return
	}
	var set tool.Set
	if err := set.Add(weather); err != nil {
		fmt.Println(err)
		return
	}

	for _, input := range []string{`{"city":"Bergen"}`, `{"town":"Bergen"}`} {
		r := set.Run(context.Background(), harness.ToolCall{ID: "1", Name: "weather", Input: json.RawMessage(input)}, tool.Call{})
		fmt.Println(r.Failed, r.Text)
	}
	// Output:
	// false Rain in Bergen
	// true the arguments were not accepted: unexpected additional properties ["town"]
}
