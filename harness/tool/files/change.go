package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"cairn/harness"
	"cairn/harness/tool"
)

// maxWrite bounds a file that is written or edited, in bytes, before and after.
const maxWrite = 2 << 20

// change is what a call would do to one file. The caller closes its place.
type change struct {
	place
	// old is the present content, new the one to come. There is no old one if
	// the place's info is nil.
	old, new string
	// state stands for the place and its present content.
	state string
}

// load reads the file at name as it is, and refuses one that is not as it was
// when the call was agreed to.
func (s space) load(name, agreed string) (ch change, err error) {
	p, err := s.resolve(name)
	if err != nil {
		return change{}, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	ch = change{place: p}
	if p.info != nil {
		if err := p.regular(); err != nil {
			return change{}, err
		}
		if ch.old, err = p.content(); err != nil {
			return change{}, err
		}
	}
	ch.state = stateOf(ch)
	if agreed != "" && agreed != ch.state {
		return change{}, fmt.Errorf("%q %w: it is not as it was when the call was agreed to, so nothing was written; read it again", name, ErrChanged)
	}
	return ch, nil
}

// content reads the whole file.
func (p place) content() (text string, err error) {
	f, err := p.open()
	if err != nil {
		return "", err
	}
	defer closing(&err, f.Close)
	data, err := io.ReadAll(io.LimitReader(f, maxWrite+1))
	switch {
	case err != nil:
		return "", plainly(p.asked, err)
	case len(data) > maxWrite:
		return "", fmt.Errorf("%q has more than %d bytes and is not changed by tools: it %w", p.asked, maxWrite, ErrKind)
	case binary(data):
		return "", fmt.Errorf("%q holds binary data, not text: it %w", p.asked, ErrKind)
	}
	return string(data), nil
}

// stateOf is a digest of where the file is, whether it exists, and its content.
func stateOf(ch change) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d:%s exists=%t ", len(ch.path), ch.path, ch.info != nil) //nolint:errcheck // a hash never fails
	io.WriteString(h, ch.old)                                                 //nolint:errcheck // a hash never fails
	return hex.EncodeToString(h.Sum(nil))
}

// checkText refuses what is no text, or too much.
func checkText(what, text string) error {
	switch {
	case strings.ContainsRune(text, 0):
		return fmt.Errorf("%s has a NUL character, so it is no text: it %w", what, ErrKind)
	case len(text) > maxWrite:
		return fmt.Errorf("%s would have %d bytes; at most %d are written: it %w", what, len(text), maxWrite, ErrKind)
	}
	return nil
}

// diff returns the unified diff between two texts and how many lines it adds
// and removes.
func diff(name, before, after string, existed bool) (text string, added, removed int, err error) {
	from := "a/" + name
	if !existed {
		from = "/dev/null"
	}
	u, err := udiff.ToUnifiedDiff(from, "b/"+name, before, udiff.Lines(before, after), udiff.DefaultContextLines)
	if err != nil {
		return "", 0, 0, fmt.Errorf("compare texts: %w", err)
	}
	for _, h := range u.Hunks {
		for _, l := range h.Lines {
			switch l.Kind {
			case udiff.Insert:
				added++
			case udiff.Delete:
				removed++
			case udiff.Equal:
			}
		}
	}
	return u.String(), added, removed, nil
}

// proposal is what the person is shown of the change.
func (f family) proposal(s space, ch change, why string) (harness.Proposal, error) {
	subject := label(s.show(ch.path))
	text, added, removed, err := diff(subject, ch.old, ch.new, ch.info != nil)
	if err != nil {
		return harness.Proposal{}, err
	}
	p := harness.Proposal{
		Kind: harness.ProposalEdit, Subject: subject, Diff: text, Added: added, Removed: removed,
		Why: why, State: ch.state,
	}
	p.About = f.about(s, ch)
	return p, nil
}

// about are the facts beside the diff.
func (f family) about(s space, ch change) []string {
	var facts []string
	if ch.info == nil {
		facts = append(facts, "new file")
		if ch.dir == nil {
			facts = append(facts, "makes its directory")
		}
	}
	if _, _, ok := within(s.real[:1], ch.path); ok {
		facts = append(facts, "in "+label(f.tilde(s.real[0])))
	} else {
		facts = append(facts, "outside the working directory")
	}
	if slices.Contains(strings.Split(filepath.ToSlash(ch.path), "/"), ".git") {
		facts = append(facts, "among the files of git itself, which can make it run commands")
	}
	if full := filepath.Clean(filepath.FromSlash(ch.asked)); full != s.show(ch.path) && full != ch.path {
		facts = append(facts, "asked for as "+label(ch.asked))
	}
	if ch.info != nil && crlf(ch.old) != crlf(ch.new) && ch.new != "" {
		facts = append(facts, "changes the line ends from "+ends(ch.old)+" to "+ends(ch.new))
	}
	return facts
}

// show returns a real path as people know it: relative in the working
// directory, else absolute.
func (s space) show(real string) string {
	if _, rel, ok := within(s.real[:1], real); ok {
		return filepath.ToSlash(rel)
	}
	return real
}

// tilde shortens the home directory.
func (f family) tilde(dir string) string {
	if f.home == "" {
		return dir
	}
	if _, rel, ok := within([]string{f.home}, dir); ok {
		return filepath.ToSlash(filepath.Join("~", rel))
	}
	return dir
}

// apply writes the change and says what it did.
func (ch change) apply(ctx context.Context, s space) (string, error) {
	_, added, removed, err := diff("", ch.old, ch.new, true)
	if err != nil {
		return "", err
	}
	if err := ch.write(ctx, []byte(ch.new)); err != nil {
		return "", err
	}
	verb := "changed"
	if ch.info == nil {
		verb = "created"
	}
	return fmt.Sprintf("%s %s: %d bytes, %s added, %s removed", verb, label(s.show(ch.path)), len(ch.new), lines(added), lines(removed)), nil
}

func lines(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}

// plan makes the change that a call asks for.
type plan[In any] func(s space, in In, agreed string) (change, error)

// changing makes a tool that changes one file: what it proposes and what it
// does come from the same plan.
func changing[In any](f family, name, description string, make plan[In], at func(In) (path, why string)) (tool.Tool, error) {
	propose := func(_ context.Context, c tool.Call) (p harness.Proposal, err error) {
		in, s, err := arguments[In](f, c)
		if err != nil {
			return p, err
		}
		ch, err := make(s, in, "")
		if err != nil {
			return p, err
		}
		defer closing(&err, ch.close)
		if err := ch.writable(); err != nil { // nobody is asked for what then fails
			return p, err
		}
		_, why := at(in)
		return f.proposal(s, ch, why)
	}
	run := func(ctx context.Context, c tool.Call, in In) (text string, err error) {
		s, err := f.space(c)
		if err != nil {
			return "", err
		}
		ch, err := make(s, in, c.State)
		if err != nil {
			return "", err
		}
		defer closing(&err, ch.close)
		return ch.apply(ctx, s)
	}
	path := func(in In) string { p, _ := at(in); return p }
	return tool.New(name, description, run, writing(f, path, tool.WithPropose(propose))...)
}
