package cli

import (
	"context"
	"path/filepath"
	"strings"

	"cairn/harness"
	"cairn/ui/cli/page"
)

// exportFormat is the format that the ending of a file asks for.
func exportFormat(path string) string {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".html", ".htm":
		return formatHTML
	case "." + formatLines:
		return formatLines
	default:
		return formatMarkdown
	}
}

// html writes a conversation as one page for browsers.
func (d *exportedSession) html(ctx context.Context, st Store, s harness.Session, branch []harness.Record) error {
	c := page.Conversation{Session: s, Records: branch}
	if st.Artifacts != nil {
		c.Bytes = func(name string) ([]byte, error) { return st.Artifacts.Get(ctx, s.ID, name) }
	}
	w, err := page.Write(c)
	if err != nil {
		return err
	}
	d.data, d.messages, d.unshown = w.Data, w.Messages, w.Left
	return nil
}
