package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cairn/harness"
	"cairn/harness/snapshot"
)

// errMessage is said of a message that is none of a user's.
var errMessage = errors.New("a message to send is a user's, with text, files or both; harness.UserText makes one")

// sendable checks a message that is to be sent and returns it as it is stored: its
// files are named by their content, and their bytes are where the tools keep large
// results, if they can be read back there.
func (a *Agent) sendable(ctx context.Context, m harness.Message) (harness.Message, error) {
	odd := func(p harness.Part) bool {
		return p.Kind != harness.PartText && (p.Kind != harness.PartFile || p.File == nil)
	}
	if m.Role != harness.RoleUser || m.Empty() || slices.ContainsFunc(m.Parts, odd) {
		return m, errMessage
	}
	m = copied(m)
	for i := range m.Parts {
		f := m.Parts[i].File
		if f == nil || f.Data == nil {
			continue
		}
		name := harness.ArtifactName(f.Data)
		if f.Artifact != "" && f.Artifact != name {
			return m, fmt.Errorf("the bytes of %q are not those of the artifact that it names", f.Name)
		}
		f.Artifact, f.Size = name, int64(len(f.Data))
		to := a.o.Tools.Artifacts
		if _, readable := to.(ArtifactReader); !readable {
			continue
		}
		kept, err := to.Put(ctx, a.id, f.Data)
		if err != nil {
			return m, fmt.Errorf("keep %q: %w", f.Name, err)
		}
		if kept != name {
			return m, fmt.Errorf("keep %q: the tools' Artifacts keep it as %s", f.Name, kept)
		}
		f.Data = nil
	}
	return m, nil
}

// bare returns records without the bytes of files that are kept apart.
func bare(records []harness.Record) []harness.Record {
	changed := false
	for i := range records {
		m := records[i].Message
		if m == nil || !slices.ContainsFunc(m.Parts, heavy) {
			continue
		}
		if !changed {
			records, changed = slices.Clone(records), true
		}
		c := clone(*m)
		for j := range c.Parts {
			for _, f := range c.Parts[j].Files() {
				if f.Artifact != "" {
					f.Data = nil
				}
			}
		}
		records[i].Message = &c
	}
	return records
}

func heavy(p harness.Part) bool {
	return slices.ContainsFunc(p.Files(), func(f *harness.File) bool { return f.Artifact != "" && f.Data != nil })
}

// held returns the bytes of an artifact that the agent holds itself.
func held(d snapshot.Document, sum string) []byte {
	for _, a := range d.Artifacts {
		if a.SHA256 == sum {
			return a.Data
		}
	}
	return nil
}
