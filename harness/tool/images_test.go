package tool

import (
	"context"
	"errors"
	"strings"
	"testing"

	"cairn/harness"
)

func TestImagesOfAResultAreKeptApart(t *testing.T) {
	t.Parallel()
	var late Call
	taken := 0
	draw := func(fail error) func(context.Context, Call) (string, error) {
		return func(_ context.Context, c Call) (string, error) {
			late = c
			for range MaxImages + 2 {
				if c.Show(harness.File{Name: "image 1", MediaType: "image/png", Data: []byte("pixels"), Width: 3}) {
					taken++
				}
			}
			return "drawn", fail
		}
	}
	place := &attic{}
	s := setOf(t, running(draw(nil)))
	s.Artifacts = place
	r := s.Run(t.Context(), callOf("t", ""), Call{})
	if taken != MaxImages || len(r.Files) != MaxImages || r.Text != "drawn" || place.kept != "pixels" {
		t.Fatalf("%d were taken, the result is %+v", taken, r)
	}
	if f := r.Files[0]; f.Artifact != "5ca1ab1e" || f.Size != 6 || f.Data != nil || f.Width != 3 {
		t.Errorf("the image is %+v", f)
	}
	if late.Show(harness.File{Data: []byte("x")}) || (Call{}).Show(harness.File{Data: []byte("x")}) {
		t.Error("an image was taken after the call, or without one")
	}
	for name, c := range map[string]struct {
		at   Artifacts
		fail error
		want string
	}{
		"nowhere to keep it": {nil, nil, "(The image image 1 is not kept: there is no place for it.)"},
		"it cannot be kept":  {&attic{err: errors.New("full")}, nil, "(The image image 1 could not be stored and is lost.)"},
		"an error":           {&attic{}, errors.New("no ink"), "no ink"},
	} {
		s := setOf(t, running(draw(c.fail)))
		s.Artifacts = c.at
		if r := s.Run(t.Context(), callOf("t", ""), Call{}); len(r.Files) > 0 || !strings.Contains(r.Text, c.want) {
			t.Errorf("%s gives %+v", name, r)
		}
	}
	s = setOf(t, running(draw(Failure("the page is broken, see the picture"))))
	s.Artifacts = place
	if r := s.Run(t.Context(), callOf("t", ""), Call{}); !r.Failed || len(r.Files) != MaxImages {
		t.Errorf("a failure with a picture gives %+v", r)
	}
}
