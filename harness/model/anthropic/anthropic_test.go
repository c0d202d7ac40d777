package anthropic_test

import (
	"testing"

	"cairn/harness/model"
	"cairn/harness/model/anthropic"
	"cairn/harness/model/modeltest"
)

func TestWire(t *testing.T) {
	modeltest.Run(t, modeltest.Subject{
		Dialect: modeltest.Anthropic{}, ResultImage: true, Marks: true, ID: "anthropic/claude-x", Issuer: "anthropic", Merged: true,
		Seal: `{"signature":"U2lnbmVk"}`, Signature: "U2lnbmVk",
		New: func(t *testing.T, url, key string) model.Model {
			t.Helper()
			m, err := anthropic.New(t.Context(), anthropic.Options{Model: "claude-x", Key: key, BaseURL: url})
			if err != nil {
				t.Fatal(err)
			}
			return m
		},
	})
}
