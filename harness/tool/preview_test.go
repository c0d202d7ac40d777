package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"cairn/harness"
)

// attic keeps artifacts, or fails.
type attic struct {
	kept string
	err  error
}

func (a *attic) Put(_ context.Context, _ harness.SessionID, data []byte) (string, error) {
	if a.err != nil {
		return "", a.err
	}
	a.kept = string(data)
	return "5ca1ab1e", nil
}

func telling(t *testing.T, text string, artifacts Artifacts) harness.ToolResult {
	t.Helper()
	s := setOf(t, running(func(context.Context, Call) (string, error) { return text, nil }))
	s.Artifacts = artifacts
	return s.Run(t.Context(), callOf("t", ""), Call{})
}

func TestLongResultsBecomeArtifacts(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 12<<20)
	many := strings.Repeat("short line\n", 200_000)
	for name, text := range map[string]string{"one endless line": line, "many short lines": many, "just too long": strings.Repeat("é", MaxResult+1)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var a attic
			r := telling(t, text, &a)
			if a.kept != text || r.Artifact != "5ca1ab1e" || !strings.Contains(r.Text, "5ca1ab1e") {
				t.Errorf("artifact %q, %d bytes kept of %d", r.Artifact, len(a.kept), len(text))
			}
			if n := utf8.RuneCountInString(r.Text); n > previewSize+300 || n < 400 {
				t.Errorf("the preview has %d characters", n)
			}
			if !strings.Contains(r.Text, fmt.Sprint(utf8.RuneCountInString(text), " characters")) {
				t.Errorf("the notice does not say the size: %.200s", r.Text)
			}
		})
	}
}

func TestResultsAtTheLimitStayWhole(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("é", MaxResult)
	if r := telling(t, text, &attic{}); r.Text != text || r.Artifact != "" {
		t.Errorf("%d bytes, artifact %q", len(r.Text), r.Artifact)
	}
	if r := telling(t, "a\xff\xfeb", nil); r.Text != "a\uFFFDb" {
		t.Errorf("got %q", r.Text)
	}
}

func TestResultsSayThatTheRestIsLost(t *testing.T) {
	t.Parallel()
	text := "first " + strings.Repeat("wörd ", 4_000) + "last"
	for name, tc := range map[string]struct {
		artifacts Artifacts
		says      string
	}{"nowhere to keep it": {nil, "not kept"}, "not stored": {&attic{err: errors.New("disk full")}, "could not be stored"}} {
		r := telling(t, text, tc.artifacts)
		if r.Artifact != "" || !strings.Contains(r.Text, tc.says) || !strings.Contains(r.Text, "characters left out") {
			t.Errorf("%s: got %.200q", name, r.Text)
		}
		// As much as fits is given, because nothing gives the rest.
		if n := utf8.RuneCountInString(r.Text); n > MaxResult || n < MaxResult-300 || !strings.Contains(r.Text, "first wörd") || !strings.HasSuffix(r.Text, "wörd last") {
			t.Errorf("%s: %d characters: %.100q", name, n, r.Text)
		}
	}
}

func TestPreviewShowsBothEnds(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 1_000 {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	got := Preview(b.String())
	for _, want := range []string{"line 0\n", "line 19\n", "line 980\n", "line 999", "960 whole lines"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "line 20\n") || strings.Contains(got, "line 979\n") {
		t.Errorf("more than 20 lines of an end:\n%s", got)
	}
	if got := Preview("short"); got != "short" {
		t.Errorf("a short text becomes %q", got)
	}
}

func TestCutsFallBetweenGraphemeClusters(t *testing.T) {
	t.Parallel()
	family := "👩‍👩‍👧‍👦"
	for pad := range 12 {
		for name, cluster := range map[string]string{"family": family, "flag": "🇳🇴", "accent": "e\u0301", "skin": "👍🏽"} {
			text := strings.Repeat("a", pad) + strings.Repeat(cluster, 2_000)
			for part, cut := range map[string]string{"start": Clip(text, 100), "end": clipTail(text+strings.Repeat("b", pad), 100)} {
				if n := utf8.RuneCountInString(cut); n > 100 || n < 80 {
					t.Errorf("%s of %s: %d characters", part, name, n)
				}
				for g := graphemes.FromString(cut); g.Next(); {
					if v := g.Value(); v != "a" && v != "b" && v != cluster {
						t.Fatalf("%s of %s with %d before: %q is a piece of a cluster", part, name, pad, v)
					}
				}
			}
		}
	}
	if got := Clip(family, 3); got != "" {
		t.Errorf("a cluster longer than the limit gives %q", got)
	}
	if Clip("abc", 0) != "" || clipTail("abc", 0) != "" || clipTail("abc", 2) != "bc" || clipTail("ab", 5) != "ab" {
		t.Error("plain cuts are wrong")
	}
}
