package policy

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// note takes the words of a command that may be programs: what is given to
// interpreters and editors, and to options that run something.
func (f *finder) note(words []known, r runner) {
	code := r.kind == script || r.kind == exact
	f.fed = f.fed || code || r.stdin
	before := ""
	for _, w := range words[1:] {
		if w.ok {
			f.texts = append(f.texts, w.text)
			// An option's value may be the word behind it.
			given := r.given(w.text)
			f.fed = f.fed || given
			if code || given || before != "" && (before == "-c" || r.given(before)) {
				f.programs = append(f.programs, w.text)
				if len(w.text) > 2 && w.text[0] == '-' && w.text[1] != '-' {
					f.programs = append(f.programs, w.text[2:]) // -Irm
				}
			}
		}
		before = w.text
		if r.deletes && w.ok && w.text == "-delete" {
			f.add([]known{{"rm", true}, {"", false}})
		}
	}
}

// assigned takes what variables are set to: PAGER and GIT_SSH_COMMAND are
// commands.
func (f *finder) assigned(all []*syntax.Assign) {
	for _, a := range all {
		if a.Value == nil {
			continue
		}
		if w, why := readWord(a.Value); why == "" {
			f.programs = append(f.programs, w.text)
		}
	}
}

// here takes a text that stands in the line for a command to read.
func (f *finder) here(r *syntax.Redirect) {
	for _, w := range []*syntax.Word{r.Hdoc, r.Word} {
		if w == nil || r.Hdoc == nil && r.Op != syntax.WordHdoc {
			continue
		}
		var b strings.Builder
		syntax.Walk(w, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Lit:
				b.WriteString(n.Value)
			case *syntax.SglQuoted:
				b.WriteString(n.Value)
			}
			return true
		})
		f.texts = append(f.texts, b.String())
	}
}

// feed takes all words of the line for what a command may read and run.
func (f *finder) feed() {
	if f.fed {
		f.programs = append(f.programs, f.texts...)
	}
}

// mentions reports whether a command's name stands in one of the programs. It
// cannot be told then whether it is run.
func (f finder) mentions(name word) bool {
	want, star := name.text, len(name.pieces) > 1
	if star {
		want = name.pieces[0]
	}
	want = fold(path.Base(want))
	if len(want) < 2 || want == ".." {
		return false // what any text has, or any path
	}
	for _, p := range f.programs {
		if named(fold(p), want, star) {
			return true
		}
	}
	return false
}

// named reports whether a name stands in a text by itself, or with star as the
// beginning of a name.
func named(text, want string, star bool) bool {
	part := func(i int) bool {
		return i >= 0 && i < len(text) && (text[i] == '-' || text[i] == '_' || text[i] >= '0' && text[i] <= '9' || text[i] >= 'a' && text[i] <= 'z' || text[i] >= 0x80)
	}
	for at := 0; ; at++ {
		i := strings.Index(text[at:], want)
		if i < 0 {
			return false
		}
		at += i
		if !part(at-1) && (star || !part(at+len(want))) {
			return true
		}
	}
}
