package model_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"cairn/harness/model"
)

func TestFallbackMovesOnAndRemembers(t *testing.T) {
	t.Parallel()
	now := noon
	var asked []string
	member := func(name string, fail *error) fake {
		return func(_ context.Context, emit func(model.Delta)) (model.Reply, error) {
			asked = append(asked, name)
			if *fail != nil {
				emit(model.Delta{Kind: model.DeltaText, Text: "half"})
				return model.Reply{}, *fail
			}
			return model.Reply{Model: name}, nil
		}
	}
	var first, second error
	f := &model.Fallback{Members: []model.Model{member("a", &first), member("b", &second)}, Now: func() time.Time { return now }}
	step := func(want string, wantAsked ...string) {
		t.Helper()
		asked = nil
		text := ""
		reply, err := f.Stream(t.Context(), model.Request{}, func(d model.Delta) {
			switch d.Kind {
			case model.DeltaText:
				text += d.Text
			case model.DeltaReset:
				text = ""
			default:
			}
		})
		if reply.Model != want || (err == nil) != (want != "") || !reflect.DeepEqual(asked, wantAsked) || err == nil && text != "" {
			t.Fatalf("got %q, %v, asked %v, kept %q; want %q, asked %v", reply.Model, err, asked, text, want, wantAsked)
		}
	}
	step("a", "a")
	first = &model.Error{Kind: model.KindServer, Retry: true}
	step("b", "a", "b")
	step("b", "b")
	second = &model.Error{Kind: model.KindQuota}
	step("", "b")
	step("", "a", "b")
	now = now.Add(model.Cooldown)
	first, second = nil, nil
	step("a", "a")
	first = &model.Error{Kind: model.KindBadRequest}
	step("", "a")
	first = errors.New("bug")
	step("", "a")
}

func TestFallbackWithoutMembersIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := (&model.Fallback{}).Stream(t.Context(), model.Request{}, nil); err == nil {
		t.Fatal("no error")
	}
}
