// Package markdown writes notes and facts as Markdown files that people edit and
// that Obsidian opens, and reads them back byte for byte. It touches no file and
// no store: bytes go in, entries come out.
//
// A note is one file: front matter with its id, title, tags and the rest, then its
// body unchanged. Facts are one file for each category: a list in which each item
// is one fact and ends with its id as a block id,
//
//   - Prefers tea ^f12
//
// and front matter that keeps what else is known of each. Further lines of a fact
// are indented by two spaces. An item without an id is a new fact, and headings
// between items mean nothing.
//
// What is read was written by anybody: sizes are bounded, anchors and aliases are
// refused, and every fault names its line.
package markdown

import (
	"fmt"

	"cairn/harness"
)

// MaxFile is the most bytes that a file may have.
const MaxFile = 16 << 20

// Kind is what a file holds.
type Kind string

// The kinds of files.
const (
	// KindNote is one note that was exported.
	KindNote Kind = "note"
	// KindFacts are facts of one category that were exported.
	KindFacts Kind = "facts"
	// KindPlain is anything else. It has been read as notes or facts all the
	// same, and its entries have no ids.
	KindPlain Kind = "plain"
)

// File is what was read from one file.
type File struct {
	Kind Kind
	// Category is that of [KindFacts], also if none is left.
	Category string
	Entries  []Entry
	// Ignored are keys of the front matter that mean nothing here, in order.
	Ignored []string
	// Missing are ids that the front matter knows and the list has not.
	Missing []string
}

// Entry is one fact or note of a file: one of the two is set. An empty id is that
// of a new one.
type Entry struct {
	// Line is where it begins, from 1.
	Line int
	Fact *harness.Fact
	Note *harness.Note
	// Bare says that the file has only the text and the category of the fact:
	// that the rest is zero means nothing.
	Bare bool
}

// Error is a fault in a file and its line, from 1.
type Error struct {
	Line   int
	Reason string
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

func fault(line int, format string, args ...any) error {
	return &Error{Line: line, Reason: fmt.Sprintf(format, args...)}
}
