package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cairn/harness"
	"cairn/harness/snapshot"
)

// ArtifactReader gives back what [tool.Artifacts] took. The Artifacts of an
// agent's tools are one if what they hold is to be saved with the conversation;
// [snapshot.Artifacts] is.
type ArtifactReader interface {
	// Get returns what has this sha256, in hexadecimal, in the session, or
	// [harness.ErrNotFound].
	Get(ctx context.Context, session harness.SessionID, sha256 string) ([]byte, error)
}

// readers are the places where the agent looks for artifacts.
func (a *Agent) readers() []ArtifactReader {
	var all []ArtifactReader
	for _, place := range []any{a.o.Tools.Artifacts, a.log, a.o.Artifacts} {
		if r, ok := place.(ArtifactReader); ok {
			all = append(all, r)
		}
	}
	return all
}

// artifact returns the bytes of one, or [harness.ErrNotFound].
func (a *Agent) artifact(ctx context.Context, sum string) ([]byte, error) {
	if data := held(a.doc, sum); data != nil {
		return data, nil
	}
	for _, r := range a.readers() {
		data, err := r.Get(ctx, a.id, sum)
		if !errors.Is(err, harness.ErrNotFound) {
			return data, err
		}
	}
	return nil, fmt.Errorf("artifact %s: %w", sum, harness.ErrNotFound)
}

// named returns the artifacts that records name, with the bytes of those that
// they hold themselves.
func named(records []harness.Record) []snapshot.Artifact {
	var all []snapshot.Artifact
	for _, r := range records {
		if r.Message == nil {
			continue
		}
		for _, p := range r.Message.Parts {
			if p.Result != nil && p.Result.Artifact != "" {
				all = append(all, snapshot.Artifact{SHA256: p.Result.Artifact, MediaType: "text/plain"})
			}
			for _, f := range p.Files() {
				if f.Artifact != "" {
					all = append(all, snapshot.Artifact{SHA256: f.Artifact, MediaType: f.MediaType, Data: f.Data})
				}
			}
		}
	}
	return all
}

// collect adds to d, with their bytes, the artifacts that records name and d has
// not.
func (a *Agent) collect(ctx context.Context, d *snapshot.Document, records []harness.Record) error {
	var missing []string
	all := slices.Clone(d.Artifacts)
	for _, n := range named(records) {
		if slices.ContainsFunc(all, func(has snapshot.Artifact) bool { return has.SHA256 == n.SHA256 }) ||
			slices.Contains(missing, n.SHA256) {
			continue
		}
		if n.Data == nil {
			data, err := a.artifact(ctx, n.SHA256)
			switch {
			case errors.Is(err, harness.ErrNotFound):
				missing = append(missing, n.SHA256)
				continue
			case err != nil:
				return err
			}
			n.Data = data
		}
		n.Size = int64(len(n.Data))
		all = append(all, n)
	}
	if len(missing) > 0 {
		return fmt.Errorf("%w: %s", snapshot.ErrArtifacts, strings.Join(missing, ", "))
	}
	d.Artifacts = all
	return nil
}

// fill reads the bytes of the artifacts that d lists without them.
func (a *Agent) fill(ctx context.Context, d *snapshot.Document) error {
	var missing []string
	d.Artifacts = slices.Clone(d.Artifacts)
	for i := range d.Artifacts {
		if d.Artifacts[i].Data != nil {
			continue
		}
		data, err := a.artifact(ctx, d.Artifacts[i].SHA256)
		switch {
		case errors.Is(err, harness.ErrNotFound):
			missing = append(missing, d.Artifacts[i].SHA256)
		case err != nil:
			return err
		default:
			d.Artifacts[i].Data = data
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%w: %s", snapshot.ErrArtifacts, strings.Join(missing, ", "))
	}
	return nil
}

// adopt gives the loaded artifacts to the agent's tools. What can be read from
// there need not be held here.
func (a *Agent) adopt(ctx context.Context, d *snapshot.Document) error {
	to := a.o.Tools.Artifacts
	if to == nil {
		return nil
	}
	_, readable := to.(ArtifactReader)
	for i := range d.Artifacts {
		sum, err := to.Put(ctx, a.id, d.Artifacts[i].Data)
		if err != nil {
			return fmt.Errorf("artifact %s: %w", d.Artifacts[i].SHA256, err)
		}
		if sum != d.Artifacts[i].SHA256 {
			return fmt.Errorf("artifact %s: the tools' Artifacts keep it as %s", d.Artifacts[i].SHA256, sum)
		}
		if readable {
			d.Artifacts[i].Data = nil
		}
	}
	return nil
}
