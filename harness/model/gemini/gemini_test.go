package gemini_test

import (
	"testing"

	"cairn/harness/model"
	"cairn/harness/model/gemini"
	"cairn/harness/model/modeltest"
)

func TestWire(t *testing.T) {
	modeltest.Run(t, modeltest.Subject{
		Dialect: modeltest.Gemini{}, Still: true, ID: "gemini/gemini-x", Issuer: "gemini", Merged: true, WholeArguments: true,
		Seal: `{"signature":"U2lnbmVk"}`, Signature: "U2lnbmVk",
		New: func(t *testing.T, url, key string) model.Model {
			t.Helper()
			m, err := gemini.New(t.Context(), gemini.Options{Model: "gemini-x", Key: key, BaseURL: url})
			if err != nil {
				t.Fatal(err)
			}
			return m
		},
	})
}
