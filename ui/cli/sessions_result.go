package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"cairn/harness"
)

// shownSum is how many digits of a sha256 are shown of what can be asked for.
const shownSum = 16

// printArtifact prints the whole of what is kept beside a conversation: exactly as
// it is for a file or a pipe, harmless for a terminal.
func (a *app) printArtifact(ctx context.Context, st Store, id harness.SessionID, sum string) error {
	sum = strings.ToLower(strings.TrimSpace(sum))
	switch {
	case a.flags.json:
		return usage("--result prints the thing itself; leave --json out")
	case len(sum) < harness.MinArtifact || strings.Trim(sum, "0123456789abcdef") != "":
		return usage("%q is no id of a large result: give %d of its digits at least, as the conversation shows them", sum, harness.MinArtifact)
	case st.Artifacts == nil:
		return fail(ExitNotFound, "session %s has no large result %s", id, sum)
	}
	data, err := st.Artifacts.Get(ctx, id, sum)
	if errors.Is(err, harness.ErrNotFound) {
		return fail(ExitNotFound, "session %s has no large result %s; see: cairn sessions show %s", id, sum, id)
	}
	if err != nil {
		return fmt.Errorf("read result %s of session %s: %w", sum, id, err)
	}
	if text, err := plainText(data); err == nil && a.s.OutTTY {
		a.block(text)
		return nil
	} else if a.s.OutTTY {
		return usage("result %s is no text (%s, %d bytes); send it to a file: cairn sessions show %s --result %s > FILE", sum, http.DetectContentType(data), len(data), id, sum)
	}
	a.out.text(string(data))
	return a.out.err
}

// fileWords tell of an attached file in a line.
func fileWords(f harness.File) string {
	words := []string{"file " + f.Name, f.MediaType}
	if f.Width > 0 {
		words = append(words, fmt.Sprintf("%d × %d", f.Width, f.Height))
	}
	if f.Pages > 0 {
		words = append(words, harness.Count(f.Pages, "page"))
	}
	if f.Size > 0 {
		words = append(words, harness.Count(int(f.Size), "byte"))
	}
	if len(f.Artifact) >= shownSum {
		words = append(words, "--result "+f.Artifact[:shownSum])
	}
	return "(" + strings.Join(words, ", ") + ")"
}
