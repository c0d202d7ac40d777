package model_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/model"
)

func TestCostIsToldByPrices(t *testing.T) {
	t.Parallel()
	info := model.Info{InputPrice: 2, OutputPrice: 10, CacheReadPrice: 0.5, CacheWritePrice: 4, PriceKnown: true}
	used := harness.Usage{Input: 1_000_000, CacheRead: 400_000, CacheWrite: 100_000, Output: 200_000}
	told := used
	told.Cost, told.CostKnown = 7, true
	for _, c := range []struct {
		info  model.Info
		usage harness.Usage
		cost  float64
		known bool
	}{
		{info, used, 0.5*2 + 0.4*0.5 + 0.1*4 + 0.2*10, true},
		{model.Info{}, used, 0, false},
		{model.Info{Local: true}, used, 0, true},
		{info, told, 7, true},
	} {
		m := model.Known{Info: c.info, Next: fake(func(context.Context, func(model.Delta)) (model.Reply, error) {
			return model.Reply{Usage: c.usage}, nil
		})}
		reply, err := m.Stream(t.Context(), model.Request{}, nil)
		if u := reply.Usage; err != nil || u.CostKnown != c.known || u.Cost < c.cost-1e-9 || u.Cost > c.cost+1e-9 {
			t.Errorf("%v, %+v, want %g", err, u, c.cost)
		}
	}
}

func TestTheMostThatACallCanCostIsThatOfTheDearest(t *testing.T) {
	t.Parallel()
	cheap := model.Info{ID: "p/cheap", InputPrice: 1, OutputPrice: 2, CacheReadPrice: 0.1, CacheWritePrice: 1, PriceKnown: true}
	writing := model.Info{ID: "p/writing", InputPrice: 1, OutputPrice: 2, CacheReadPrice: 0.1, CacheWritePrice: 1.25, PriceKnown: true}
	dear := model.Info{ID: "p/dear", InputPrice: 10, OutputPrice: 50, PriceKnown: true}
	local := model.Info{ID: "ollama/x", InputPrice: 99, OutputPrice: 99, PriceKnown: true, Local: true}
	unknown := model.Info{ID: "p/new", InputPrice: 99}
	chain := func(i model.Info, others ...model.Info) model.Info { i.Fallbacks = others; return i }
	for name, c := range map[string]struct {
		info          model.Info
		input, output int
		most          float64
		unpriced      string
	}{
		"one":                 {cheap, 1_000_000, 500_000, 2, ""},
		"writing is dearer":   {writing, 1_000_000, 500_000, 2.25, ""},
		"nothing":             {dear, 0, 0, 0, ""},
		"less than nothing":   {dear, -5, -5, 0, ""},
		"local":               {local, 1_000_000, 1_000_000, 0, ""},
		"unknown":             {unknown, 1_000_000, 1_000_000, 0, "p/new"},
		"a dear fallback":     {chain(cheap, local, dear), 1_000_000, 500_000, 35, ""},
		"a cheap fallback":    {chain(dear, cheap), 1_000_000, 500_000, 35, ""},
		"an unknown fallback": {chain(local, cheap, unknown), 1_000_000, 500_000, 2, "p/new"},
	} {
		if got := c.info.Most(c.input, c.output); got < c.most-1e-9 || got > c.most+1e-9 || c.info.Unpriced() != c.unpriced {
			t.Errorf("%s: $%g, unpriced %q", name, got, c.info.Unpriced())
		}
	}
	both := chain(cheap, dear)
	if both.Of("p/dear").InputPrice != 10 || both.Of("p/cheap").InputPrice != 1 || both.Of("").ID != "p/cheap" {
		t.Error("the models of a chain are mixed up")
	}
}

func TestFilesAreAcceptedByWhatTheModelReads(t *testing.T) {
	t.Parallel()
	sees := model.Info{ID: "p/sees", Images: true}
	reads := model.Info{ID: "p/reads", Images: true, Documents: true}
	blind := model.Info{ID: "p/blind"}
	for _, c := range []struct {
		info model.Info
		kind string
		says string
	}{
		{blind, "text/plain", ""},
		{blind, "text/markdown; charset=utf-8", ""},
		{blind, "application/json", ""},
		{blind, "image/svg+xml", ""},
		{blind, "image/png", "p/blind reads no images; choose a model that does, or leave the file out"},
		{blind, "application/pdf", "p/blind reads no PDF documents"},
		{sees, "image/png", ""},
		{sees, "image/jpeg", ""},
		{sees, "image/gif", ""},
		{sees, "image/webp", ""},
		{sees, "image/tiff", "no model reads files of the type image/tiff"},
		{sees, "application/pdf", "p/sees reads no PDF documents"},
		{reads, "application/pdf", ""},
		{reads, "application/zip\x1b", "no model reads files of the type application/zip; leave the file out"},
	} {
		err := c.info.Accepts(c.kind)
		var refused *model.MediaError
		if c.says == "" && err != nil || c.says != "" && (!errors.As(err, &refused) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s, %s: %v", c.info.ID, c.kind, err)
		}
	}
	err := model.Info{ID: "ollama/m:7b", Local: true}.Accepts("application/pdf")
	if want := `ollama/m:7b reads no PDF documents; choose a model that does, or leave the file out; if it does after all, set models."ollama/m:7b".documents = true in the configuration`; err == nil || err.Error() != want {
		t.Error(err)
	}
	e := &model.MediaError{Model: "p/m", MediaType: "image/png", Instead: []string{"a/b", "c/d"}}
	if got := e.Error(); got != "p/m reads no images; choose a model that does, such as a/b or c/d, or leave the file out" {
		t.Error(got)
	}
}

// asked is a model that keeps the request.
type asked struct{ got *model.Request }

func (a asked) Stream(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	*a.got = r
	return model.Reply{}, &model.Error{Kind: model.KindOverflow, Limit: 7}
}

func TestALineStandsForFilesThatAModelDoesNotRead(t *testing.T) {
	t.Parallel()
	file := func(kind string) harness.Part {
		return harness.Part{Kind: harness.PartFile, File: &harness.File{Name: "cat\n.x", MediaType: kind, Data: []byte("x")}}
	}
	messages := []harness.Message{
		{Role: harness.RoleUser, Parts: []harness.Part{
			file("image/png"), file("text/plain"), file("application/pdf"),
			{Kind: harness.PartText, Text: "of a file", File: &harness.File{Name: "a.zip", MediaType: "application/zip"}},
		}},
		harness.AssistantText("a cat"), harness.UserText("thanks"),
	}
	var got model.Request
	m := model.Known{Next: asked{&got}, Info: model.Info{ID: "p/m", Images: true, MaxOutput: 100}}
	_, err := m.Stream(t.Context(), model.Request{Messages: messages, MaxOutput: 500}, nil)
	if e, ok := model.AsError(err); !ok || e.Model != "p/m" || e.Limit != 7 {
		t.Errorf("the error does not name the model: %+v", e)
	}
	parts := got.Messages[0].Parts
	if parts[0].File == nil || parts[1].File == nil || parts[2].File != nil ||
		parts[2].Text != `[file "cat .x" of type application/pdf is left out: this model does not read it]` || got.MaxOutput != 100 || parts[3].Text != "of a file" {
		t.Errorf("asked %+v", got)
	}
	if messages[0].Parts[2].File == nil {
		t.Error("the conversation itself was changed")
	}
	m.Info.Documents = true
	if _, _ = m.Stream(t.Context(), model.Request{Messages: messages}, nil); &got.Messages[0] != &messages[0] {
		t.Error("copied for nothing")
	}
}
