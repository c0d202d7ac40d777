package runtest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/harness/tool"
	"cairn/harness/tool/ask"
	"cairn/harness/tool/recall"
	"cairn/harness/tool/result"
)

// given is what the tools of the script are called with.
type given struct {
	Text string `json:"text,omitempty"`
	// Meet waits until as many calls have come to the same place.
	Meet int `json:"meet,omitempty"`
	// Hang leaves the effect and returns only when the process has died, if it is
	// the first time.
	Hang bool `json:"hang,omitempty"`
}

// textDrawn has a tool give an image with its result.
const textDrawn = "a drawing"

// tools are look, which is safe, note, which is idempotent, pay, which is manual,
// write, which asks, flood, whose result is long, and those for memory, stored
// results and questions. Their effects are lines that no store knows.
func (s *stage) tools(life <-chan struct{}, st Stores) (*tool.Set, error) {
	set := &tool.Set{Artifacts: st.Artifacts}
	add := func(name string, opts ...tool.Option) error {
		t, err := tool.New(name, "Leaves a line.", func(ctx context.Context, c tool.Call, in given) (string, error) {
			return s.perform(ctx, life, name, c, in)
		}, opts...)
		if err != nil {
			return err
		}
		return set.Add(t)
	}
	flood, err := tool.New("flood", "Tells much.", func(context.Context, tool.Call, struct{}) (string, error) { return flooded(), nil },
		tool.WithReplay(tool.Safe), tool.WithPermission(tool.Allow))
	return set, errors.Join(err,
		add("look", tool.WithReplay(tool.Safe), tool.WithPermission(tool.Allow)),
		add("note", tool.WithReplay(tool.Idempotent), tool.WithPermission(tool.Allow)),
		add("pay", tool.WithPermission(tool.Allow)),
		add("write", tool.WithPropose(func(_ context.Context, c tool.Call) (harness.Proposal, error) {
			return harness.Proposal{Kind: harness.ProposalEdit, Subject: "ledger", Body: string(c.Input), State: "as it was"}, nil
		})),
		set.Add(flood), result.Register(set, st.Artifacts), recall.RegisterMemoryTools(set, st.Facts, st.Notes), ask.Register(set),
	)
}

// flooded is a text of five megabytes.
func flooded() string {
	const line = "It was the best of times, it was the worst of times, line"
	var b strings.Builder
	for n := 1; b.Len() < 5<<20; n++ {
		fmt.Fprintln(&b, line, n)
	}
	return b.String()
}

// perform is one execution of a tool.
func (s *stage) perform(ctx context.Context, life <-chan struct{}, name string, c tool.Call, in given) (string, error) {
	s.mu.Lock()
	first := !s.done[c.Key]
	s.done[c.Key] = true
	s.effects = append(s.effects, fmt.Sprintf("%s %s %s", c.Key, name, in.Text))
	s.met++
	if s.met == in.Meet {
		close(s.meeting)
	}
	s.mu.Unlock()
	if in.Meet > 0 {
		select {
		case <-s.meeting:
		case <-ctx.Done():
			return "", fmt.Errorf("alone: %w", ctx.Err())
		}
	}
	if in.Text == textHeld {
		close(s.holding)
		select {
		case <-s.spoken:
		case <-ctx.Done():
			return "", fmt.Errorf("nobody said anything: %w", ctx.Err())
		}
	}
	if in.Text == textDrawn && !c.Show(harness.File{Name: "image 1", MediaType: "image/png", Data: dot(), Width: 1, Height: 1}) {
		return "", errors.New("the image was not taken")
	}
	if in.Hang && first {
		close(s.hung)
		<-life
		return "", errors.New("the process died meanwhile")
	}
	return "done: " + in.Text, nil
}
