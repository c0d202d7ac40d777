package openai_test

import (
	"testing"

	"cairn/harness/model"
	"cairn/harness/model/modeltest"
	"cairn/harness/model/openai"
)

func TestWire(t *testing.T) {
	modeltest.Run(t, modeltest.Subject{
		Dialect: modeltest.OpenAI{}, ID: "openai/gpt-4o", Issuer: "openai",
		New: func(t *testing.T, url, key string) model.Model {
			t.Helper()
			m, err := openai.New(t.Context(), openai.Options{Model: "gpt-4o", Key: key, BaseURL: url + "/v1"})
			if err != nil {
				t.Fatal(err)
			}
			return m
		},
	})
}
