package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"cairn/harness"
	"cairn/harness/snapshot"
)

// importedDocument is a document as it is stored here: with the bytes of its
// artifacts where they belong, its records numbered from 1, and without what a
// session has no place for, which is told.
func importedDocument(d snapshot.Document, name, source string, left []string) (imported, error) {
	c := imported{
		ID: name, Source: source, Left: slices.Clone(left),
		Meta: harness.Session{
			Title: d.Title, TitleBy: d.TitleBy, Created: d.Created, Updated: d.Saved, Usage: d.Usage,
			Model: d.Config.Model, System: d.Config.System, NoMemory: d.Config.NoMemory,
		},
	}
	for _, r := range d.Records {
		if err := checkMessage(r.Message); err != nil {
			return c, fmt.Errorf("session %s, record %d: %w: %w", name, r.Seq, harness.ErrDamaged, err)
		}
	}
	d.Records = slices.Clone(d.Records)
	setFilesApart(&d)
	var err error
	c.Records, c.Meta.Head, err = renumbered(d.Records, d.Head)
	if err != nil {
		return c, err
	}
	if missing := c.takeArtifacts(d.Artifacts); missing > 0 {
		c.Left = append(c.Left, harness.Count(missing, "file or long result")+" whose bytes are missing")
	}
	if d.Config.Limits != (snapshot.Limits{}) {
		c.Left = append(c.Left, "limits")
	}
	c.Learned = d.Learned
	if len(d.Tasks) > 0 && !tasksTold(d) {
		c.Left = append(c.Left, "the task list")
	}
	if names := slices.Sorted(maps.Keys(d.Extensions)); len(names) > 0 {
		c.Left = append(c.Left, "the state of "+strings.Join(names, ", "))
	}
	return c, nil
}

// checkMessage refuses what no program of ours stores: a checksum tells that a file
// is whole, not who wrote it.
func checkMessage(m *harness.Message) error {
	if m == nil {
		return nil
	}
	switch m.Role {
	case harness.RoleUser, harness.RoleAssistant, harness.RoleTool:
	default:
		return fmt.Errorf("the role is %q", m.Role)
	}
	for i, p := range m.Parts {
		// The text of a file that was attached has the file beside it, without bytes.
		file := p.Kind == harness.PartFile || p.Kind == harness.PartText && p.File != nil && p.File.Artifact == "" && len(p.File.Data) == 0
		if (p.Kind == harness.PartCall) != (p.Call != nil) || (p.Kind == harness.PartResult) != (p.Result != nil) || file != (p.File != nil) {
			return fmt.Errorf("part %d is not of its kind, %q", i+1, p.Kind)
		}
	}
	return nil
}

// renumbered numbers records from 1, however sparse their numbers are, and keeps
// what follows what and which record names which.
func renumbered(records []harness.Record, head int) ([]harness.Record, int, error) {
	now := make(map[int]int, len(records))
	all := make([]harness.Record, len(records))
	for i, r := range records {
		now[r.Seq] = i + 1
		var err error
		if r.Data, err = snapshot.Renumbered(r, func(o harness.Origin) (int, bool) { n, ok := now[o.Record]; return n, ok }); err != nil {
			return nil, 0, err
		}
		// The runs behind it are not here.
		r.Seq, r.Prev, r.In, r.Run = i+1, now[r.Prev], "", ""
		all[i] = r
	}
	return all, now[head], nil
}

// maxInline is how many bytes a result of a tool has at most that a message holds
// whole; longer ones stay apart, with a preview.
const maxInline = 12_000

// inlineResults puts the short results of other harnesses, which keep apart what
// would fit, into their messages.
func inlineResults(d *snapshot.Document) {
	short := map[string]string{}
	for _, a := range d.Artifacts {
		if len(a.Data) <= maxInline {
			short[a.SHA256] = strings.ToValidUTF8(string(a.Data), "\ufffd")
		}
	}
	for i, r := range d.Records {
		d.Records[i].Message = withParts(r.Message, func(p harness.Part) harness.Part {
			if p.Result == nil || p.Result.Artifact == "" {
				return p
			}
			text, ok := short[p.Result.Artifact]
			if !ok {
				return p
			}
			result := *p.Result
			result.Artifact, result.Text, p.Result = "", text, &result
			return p
		})
	}
}

// takeArtifacts takes over the files and long results that the messages name, says
// in the messages how large the files are, and returns how many are missing.
func (c *imported) takeArtifacts(artifacts []snapshot.Artifact) (missing int) {
	sizes, have := map[string]int64{}, map[string][]byte{}
	for _, a := range artifacts {
		sizes[a.SHA256], have[a.SHA256] = a.Size, a.Data
	}
	seen := map[string]bool{}
	for i, r := range c.Records {
		for _, a := range namedArtifacts(r.Message) {
			if seen[a.SHA256] {
				continue
			}
			seen[a.SHA256] = true
			if data, ok := have[a.SHA256]; ok {
				c.Artifacts = append(c.Artifacts, data)
			} else {
				missing++
			}
		}
		c.Records[i].Message = withParts(r.Message, func(p harness.Part) harness.Part {
			return sized(p, sizes)
		})
	}
	return missing
}

// sized is a part whose files say how large they are.
func sized(p harness.Part, sizes map[string]int64) harness.Part {
	p = p.OwnFiles()
	for _, f := range p.Files() {
		if f.Artifact != "" && f.Size == 0 {
			f.Size = sizes[f.Artifact]
		}
	}
	return p
}
