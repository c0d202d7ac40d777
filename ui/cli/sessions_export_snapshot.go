package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"cairn/harness"
	"cairn/harness/snapshot"
	"cairn/ui/render"
)

// memoryAddress is that of a store that ends with the program.
const memoryAddress = "mem://"

// isAddress reports whether text is the address of a place for snapshots and no
// path.
func isAddress(text string) bool { return strings.Contains(text, "://") }

// snapshots opens the place for snapshots at an address or path, and returns how
// to call it: what is secret in an address is not in it.
func (a *app) snapshots(ctx context.Context, address string) (snapshot.Store, string, error) {
	shown := withoutSecrets(address)
	if !isAddress(address) {
		address = absolute(a.s, expand(a.s, address))
		shown = address
	}
	if scheme, rest, ok := strings.Cut(address, "://"); ok {
		address = strings.ToLower(scheme) + "://" + rest
	}
	open := a.wire.OpenSnapshots
	if open == nil {
		open = snapshot.Open
	}
	place, err := open(ctx, address)
	if errors.Is(err, snapshot.ErrAddress) {
		return nil, shown, usage("%w", err)
	}
	if closer, ok := place.(io.Closer); ok && err == nil {
		a.closers = append(a.closers, closer.Close)
	}
	return place, shown, err
}

// withoutSecrets is an address without what people keep keys in.
func withoutSecrets(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(not an address)"
	}
	return u.Scheme + "://" + u.Host + u.Path
}

// exportSnapshots saves the session that is named, or all, as snapshots.
func (a *app) exportSnapshots(ctx context.Context, args []string, o sessionExport) error {
	st, err := a.reading(ctx)
	if err != nil {
		return err
	}
	var list []harness.Session
	if o.all {
		list, err = a.exportable(ctx, st)
	} else {
		list = make([]harness.Session, 1)
		list[0], err = findSession(ctx, st, args[0])
	}
	if err != nil || len(list) == 0 {
		return err
	}
	if info, err := os.Stat(absolute(a.s, expand(a.s, o.to))); !isAddress(o.to) && err == nil && !info.IsDir() {
		return usage("%s is a file; a snapshot needs a directory or an address", o.to)
	}
	place, shown, err := a.snapshots(ctx, o.to)
	if err != nil {
		return err
	}
	if shown == memoryAddress {
		return usage("%s is the memory of this command and ends with it; give a directory or an address such as s3://bucket", shown)
	}
	refused := 0
	for _, s := range list {
		err := a.exportSnapshot(ctx, st, place, shown, s, o.force)
		var no *failure
		if o.all && errors.As(err, &no) && no.code != ExitFailed {
			refused++
			a.complain(err.Error())
			continue
		}
		if err != nil {
			return err
		}
	}
	if refused > 0 {
		return fail(ExitFailed, "%d of %s not written", refused, harness.Count(len(list), "session"))
	}
	return nil
}

// exportSnapshot saves one session, unless that would lose something.
func (a *app) exportSnapshot(ctx context.Context, st Store, place snapshot.Store, shown string, s harness.Session, force bool) error {
	if s.OpenRun != "" {
		return fail(ExitBusy, "session %s has a run that has not ended, and a snapshot never holds one; see: cairn runs list --unfinished", s.ID)
	}
	d, err := snapshot.Of(ctx, st.Sessions, st.Transcript, s.ID)
	if err != nil {
		return err
	}
	missing, err := addArtifacts(ctx, st, &d)
	if err != nil {
		return err
	}
	if err := addLearned(ctx, st, &d); err != nil {
		return err
	}
	r := exportedSessionResult{ID: s.ID, File: shown, Format: formatSnapshot, Messages: messages(d.Records), Action: "written"}
	was, w, err := snapshot.Begin(ctx, place, string(s.ID))
	switch {
	case errors.Is(err, harness.ErrDamaged) && force:
		_, err = snapshot.Save(ctx, place, d)
	case err != nil:
	case sameDocument(was, d):
		r.Action = "unchanged"
	case !was.Saved.IsZero() && !force:
		return usage("%s holds session %s otherwise, which is not written over; give another place, or --force", shown, s.ID)
	default:
		err = w.Save(ctx, d)
	}
	switch {
	case errors.Is(err, harness.ErrLost):
		return fail(ExitBusy, "session %s was saved in %s by somebody else just now; export it again", s.ID, shown)
	case errors.Is(err, context.Canceled):
		return err
	case err != nil:
		// What helps with the store here does not help there.
		if errors.Is(err, harness.ErrDamaged) {
			return fail(ExitFailed, "export session %s to %s: %w; --force writes over it", s.ID, shown, err)
		}
		if err = cause(err); !isAddress(shown) {
			return fail(ExitFailed, "export session %s to %s: %w; give another place with -o", s.ID, shown, err)
		}
		return fail(ExitFailed, "export session %s to %s: %w", s.ID, shown, err)
	case a.flags.json:
		return a.out.object(r)
	}
	text := fmt.Sprintf("%s session %s to %s (%s)", r.Action, r.ID, render.SafeLine(shown), harness.Count(r.Messages, "message"))
	if r.Action == "unchanged" {
		text = fmt.Sprintf("session %s is in %s already (%s)", r.ID, render.SafeLine(shown), harness.Count(r.Messages, "message"))
	}
	a.out.line("%s", text)
	if missing > 0 {
		a.notice("%s: %s not in it, because they are not here", r.ID, harness.Count(missing, "file or long result"))
	}
	return nil
}

// addArtifacts adds to a document the files and long results that its messages
// name, and returns how many are not here.
func addArtifacts(ctx context.Context, st Store, d *snapshot.Document) (missing int, err error) {
	setFilesApart(d)
	known := map[string]bool{}
	for _, a := range d.Artifacts {
		known[a.SHA256] = true
	}
	for _, r := range d.Records {
		for _, a := range namedArtifacts(r.Message) {
			if known[a.SHA256] {
				continue
			}
			known[a.SHA256] = true
			a.Data, err = st.Artifacts.Get(ctx, d.ID, a.SHA256)
			if errors.Is(err, harness.ErrNotFound) {
				missing++
				continue
			}
			if err != nil {
				return missing, err
			}
			a.Size = int64(len(a.Data))
			d.Artifacts = append(d.Artifacts, a)
		}
	}
	return missing, nil
}

// namedArtifacts returns what a message names, without its bytes.
func namedArtifacts(m *harness.Message) []snapshot.Artifact {
	if m == nil {
		return nil
	}
	var named []snapshot.Artifact
	for _, p := range m.Parts {
		if p.Result != nil && p.Result.Artifact != "" {
			named = append(named, snapshot.Artifact{SHA256: p.Result.Artifact, MediaType: "text/plain"})
		}
		for _, f := range p.Files() {
			if f.Artifact != "" {
				named = append(named, snapshot.Artifact{SHA256: f.Artifact, MediaType: f.MediaType})
			}
		}
	}
	return named
}

// messages counts the messages among records.
func messages(records []harness.Record) int {
	n := 0
	for _, r := range records {
		if r.Message != nil {
			n++
		}
	}
	return n
}

// sameDocument reports whether two documents differ at most in the time and in what
// was learned of models, which is not of the session alone.
func sameDocument(a, b snapshot.Document) bool {
	a.Saved, b.Saved, a.Learned, b.Learned = time.Time{}, time.Time{}, nil, nil
	first, err := snapshot.Encode(a)
	if err != nil {
		return false
	}
	second, err := snapshot.Encode(b)
	return err == nil && string(first) == string(second)
}

// setFilesApart makes artifacts of the bytes of files in a document.
func setFilesApart(d *snapshot.Document) {
	known := map[string]bool{}
	for _, a := range d.Artifacts {
		known[a.SHA256] = true
	}
	for i, r := range d.Records {
		d.Records[i].Message = withParts(r.Message, func(p harness.Part) harness.Part {
			if p.File == nil || len(p.File.Data) == 0 {
				return p
			}
			file := *p.File
			file.Artifact = harness.ArtifactName(file.Data)
			if !known[file.Artifact] {
				known[file.Artifact] = true
				d.Artifacts = append(d.Artifacts, snapshot.Artifact{
					SHA256: file.Artifact, Size: int64(len(file.Data)), MediaType: file.MediaType, Data: file.Data,
				})
			}
			file.Size, file.Data, p.File = int64(len(file.Data)), nil, &file
			return p
		})
	}
}

// withParts is a message with each part as change makes it. The message itself
// stays as it is.
func withParts(m *harness.Message, change func(harness.Part) harness.Part) *harness.Message {
	if m == nil {
		return nil
	}
	changed := *m
	changed.Parts = slices.Clone(m.Parts)
	for i, p := range changed.Parts {
		changed.Parts[i] = change(p)
	}
	return &changed
}
