package openai_test

import (
	"testing"

	"cairn/harness"
	"cairn/harness/model"
	"cairn/harness/model/modeltest"
	"cairn/harness/model/openai"
)

func TestTokensOfResponsesAreRead(t *testing.T) {
	t.Parallel()
	d := modeltest.Responses{}
	svc := modeltest.Serve(t, func(_ int, a *modeltest.Answer) {
		a.Send(modeltest.Plain, d.Start(), d.Text("Hello"), d.Finish("stop"), d.Usage(100, 60, 20, 7))
	})
	m, err := openai.New(t.Context(), openai.Options{Model: "gpt-x", Key: "key-0123456789", BaseURL: svc.URL + "/v1", Responses: true})
	if err != nil {
		t.Fatal(err)
	}
	reply, err := m.Stream(t.Context(), model.Request{Messages: []harness.Message{harness.UserText("hi")}}, func(model.Delta) {})
	if want := (harness.Usage{Input: 100, CacheRead: 60, Output: 20, Reasoning: 7}); err != nil || reply.Usage != want || reply.Model != "openai/gpt-x" {
		t.Errorf("%v, %+v of %s", err, reply.Usage, reply.Model)
	}
}
