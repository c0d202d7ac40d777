package tool

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"cairn/harness"
)

// MaxImages is how many images one result has at most.
const MaxImages = 8

// shown are the images that a call showed so far.
type shown struct {
	mu     sync.Mutex
	images []harness.File
	over   bool
}

// Show makes an image a part of the result: models that read images get it, and the
// person sees it. f needs its Data, and what is known of the pixels; whoever calls it
// has looked whether the bytes are an image. It returns false, and the image is left
// out, for more than [MaxImages] in one result and for a call that is over, or that no
// [Set] executes. The text of the result should tell of the image in any case.
func (c Call) Show(f harness.File) bool {
	if c.shown == nil || len(f.Data) == 0 {
		return false
	}
	c.shown.mu.Lock()
	defer c.shown.mu.Unlock()
	if c.shown.over || len(c.shown.images) >= MaxImages {
		return false
	}
	c.shown.images = append(c.shown.images, f)
	return true
}

// Shown returns the images that the call showed so far, for whoever sees results
// before models do.
func (c Call) Shown() []harness.File {
	if c.shown == nil {
		return nil
	}
	c.shown.mu.Lock()
	defer c.shown.mu.Unlock()
	return slices.Clone(c.shown.images)
}

// Reshow replaces the images that the call showed so far.
func (c Call) Reshow(images []harness.File) {
	if c.shown == nil {
		return
	}
	c.shown.mu.Lock()
	defer c.shown.mu.Unlock()
	c.shown.images = slices.Clone(images[:min(len(images), MaxImages)])
}

// take returns what was shown; nothing is from now on.
func (s *shown) take() []harness.File {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	return s.images
}

// keep stores the images of a result apart. One that cannot be kept is named in the
// text.
func (s *Set) keep(ctx context.Context, c Call, r harness.ToolResult) harness.ToolResult {
	files := r.Files
	r.Files = nil
	for _, f := range files {
		if s.Artifacts == nil {
			r = r.Noted(fmt.Sprintf("(The image %s is not kept: there is no place for it.)", f.Name))
			continue
		}
		sum, err := s.Artifacts.Put(context.WithoutCancel(ctx), c.Session, f.Data)
		if err != nil {
			if s.Log != nil {
				s.Log.LogAttrs(ctx, slog.LevelError, "store an image of a tool result", slog.String("call", c.Key), slog.Any("error", err))
			}
			r = r.Noted(fmt.Sprintf("(The image %s could not be stored and is lost.)", f.Name))
			continue
		}
		f.Artifact, f.Size, f.Data = sum, int64(len(f.Data)), nil
		r.Files = append(r.Files, f)
	}
	return r
}
