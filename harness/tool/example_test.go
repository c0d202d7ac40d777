package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"cairn/harness"
	"cairn/harness/tool"
)

type cityIn struct {
	City string `json:"city" jsonschema:"the city's name"`
}

func weather(_ context.Context, _ tool.Call, in cityIn) (string, error) {
	return "Rain in " + in.City, nil
}

func Example() {
	made, err := tool.New("weather", "Tell the weather in a city.", weather, tool.WithPermission(tool.Allow), tool.WithReplay(tool.Safe))
	var set tool.Set
	err = errors.Join(err, set.Add(made))
	r := set.Run(context.Background(), harness.ToolCall{Name: "weather", Input: json.RawMessage(`{"city":"Bergen"}`)}, tool.Call{})
	fmt.Println(err, made.Permission, made.Replay, r.Text)
	// Output: <nil> allow safe Rain in Bergen
}

func ExampleSet_Run() {
	made, err := tool.New("weather", "Tell the weather in a city.", weather)
	var set tool.Set
	fmt.Println(errors.Join(err, set.Add(made)))
	for _, name := range []string{"weather", "wether"} {
		r := set.Run(context.Background(), harness.ToolCall{Name: name, Input: json.RawMessage(`{"town":"Bergen"}`)}, tool.Call{})
		fmt.Println(r.Failed, r.Text)
	}
	// Output:
	// <nil>
	// true the arguments were not accepted: unexpected additional properties ["town"]
	// true There is no tool "wether". Did you mean weather? The tools are: weather.
}

func ExampleRedactor() {
	r := tool.NewRedactor(tool.SecretsOf([]string{"HOME=/home/ada", "GITHUB_TOKEN=planted-0123456789"}, nil))
	fmt.Println(r.Redact("push to https://ada:planted-0123456789@example.com from /home/ada"))
	// Output: push to https://ada:[redacted GITHUB_TOKEN]@example.com from /home/ada
}
