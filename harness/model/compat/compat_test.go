package compat_test

import (
	"testing"

	"cairn/harness/model"
	"cairn/harness/model/compat"
	"cairn/harness/model/modeltest"
)

func TestWire(t *testing.T) {
	modeltest.Run(t, modeltest.Subject{
		Dialect: modeltest.OpenAI{}, ID: "local/m", Issuer: "local",
		New: func(t *testing.T, url, key string) model.Model {
			t.Helper()
			m, err := compat.New(t.Context(), compat.Options{Provider: "local", Model: "m", Key: key, BaseURL: url + "/v1"})
			if err != nil {
				t.Fatal(err)
			}
			return m
		},
	})
}
