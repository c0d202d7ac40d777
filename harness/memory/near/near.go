// Package near finds what means the same as a question, also without a word in
// common: by the vectors that a configured model makes of messages, facts and
// notes. The one thing to know: words come first. What they find is found without
// any of this, and what the vectors find is only fused into it.
package near

import (
	"context"
	"errors"

	"cairn/harness"
)

// Version counts the ways in which texts were cut and vectors made. Vectors of
// another version are made anew.
const Version = 1

// Space is what vectors can be compared in: those of one model.
type Space struct {
	// Model is "provider/model".
	Model string `json:"model"`
	// Dims is how many numbers a vector has.
	Dims    int `json:"dims"`
	Version int `json:"version"`
	// Unrelated is how alike the model finds texts that have nothing to do with
	// one another, from -1 to 1: models differ much in that.
	Unrelated float64 `json:"unrelated"`
}

// Of reports whether the vectors are those of a model, made as they are now.
func (s Space) Of(model string) bool { return s.Model == model && s.Version == Version && s.Dims > 0 }

// relatedShare is how far from unrelated to the same a text must be to count as
// related.
const relatedShare = 0.25

// Floor is how alike a text must be to a question to be found by it.
func (s Space) Floor() float64 {
	u := min(max(s.Unrelated, 0), 0.95)
	return u + relatedShare*(1-u)
}

// Window is a piece of a text and its vector.
type Window struct {
	// Message is the record it is of; 0 in a fact or note.
	Message int
	// From and To are its place in the text, in bytes.
	From, To int
	Text     string
	Vector   []float32
}

// Part is what gets its vectors at once: a run of records of a session, or one
// fact or note. There may be no window in it; then it has nothing to be found by.
type Part struct {
	Session  harness.SessionID
	From, To int
	// ID is that of a fact or note.
	ID string
	// Sum tells what the windows were cut from.
	Sum     uint32
	Windows []Window
}

// ErrMoved says that vectors are not of the space that they were asked in:
// somebody began anew meanwhile.
var ErrMoved = errors.New("the vectors were begun anew meanwhile")

// ErrBusy says that another process makes the vectors now.
var ErrBusy = errors.New("another window makes the vectors now")

// Query is a question to the stored vectors.
type Query struct {
	Space  Space
	Vector []float32
	// Words is the question as it was typed, for the excerpts.
	Words string
	// Floor is how alike a text must be, from -1 to 1.
	Floor float64
	Limit int
}

// Item is a fact or note that was found.
type Item struct {
	ID string
	// Score is how alike it is.
	Score float64
}

// Vectors are the stored vectors, for those who look something up. What was
// deleted is not found. All methods are safe for concurrent use.
type Vectors interface {
	// Space tells what vectors there are, false if none.
	Space(ctx context.Context) (Space, bool, error)
	// Messages finds the messages nearest to a question, the nearest first.
	Messages(ctx context.Context, q Query) ([]harness.Hit, error)
	// Items finds the facts ("f") or the notes ("n") nearest to a question.
	Items(ctx context.Context, kind string, q Query) ([]Item, error)
	// Status tells what there is and what is missing.
	Status(ctx context.Context) (Status, error)
}

// Status is what there is of vectors.
type Status struct {
	// Space is nil if there are none.
	Space *Space `json:"space,omitempty"`
	// Records are those of conversations that are done, most of which are messages,
	// Items the facts and notes.
	Records int `json:"records"`
	Items   int `json:"items"`
	// Missing are the records, facts and notes that are not done yet.
	Missing int `json:"missing"`
	// Vectors is how many there are, Bytes what they take.
	Vectors int   `json:"vectors"`
	Bytes   int64 `json:"bytes"`
}

// Maker stores vectors. What one process has begun another may go on with.
type Maker interface {
	// Begin drops all vectors and begins anew in a space.
	Begin(ctx context.Context, s Space) error
	// Next returns parts that have no vectors, those used last first, with at most
	// about so many windows, cut by a function; none if all is done. Until
	// [Maker.Put] or [Maker.Done] other processes get [ErrBusy].
	Next(ctx context.Context, s Space, windows int, cut func(text string) []Span) ([]Part, error)
	// Put stores the vectors of parts. Those of what has changed or was deleted
	// since are left out.
	Put(ctx context.Context, s Space, parts []Part) error
	// Done lets other processes go on.
	Done(ctx context.Context) error
	// Tidy drops the vectors of what is gone, and Clear all.
	Tidy(ctx context.Context) error
	Clear(ctx context.Context) error
}

// Store is all of it.
type Store interface {
	Vectors
	Maker
}
