package openrouter_test

import (
	"testing"

	"cairn/harness/model"
	"cairn/harness/model/modeltest"
	"cairn/harness/model/openrouter"
)

func TestWire(t *testing.T) {
	modeltest.Run(t, modeltest.Subject{
		Dialect: modeltest.OpenAI{}, Marks: true, ID: "openrouter/anthropic/claude-x", Issuer: "openrouter/anthropic",
		Seal: `{"signature":"U2lnbmVk"}`, Signature: "U2lnbmVk",
		New: func(t *testing.T, url, key string) model.Model {
			t.Helper()
			m, err := openrouter.New(t.Context(), openrouter.Options{Model: "anthropic/claude-x", Key: key, BaseURL: url + "/v1"})
			if err != nil {
				t.Fatal(err)
			}
			return m
		},
	})
}
