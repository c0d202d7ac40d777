// Package harness is the vocabulary of the program: sessions, messages, notes,
// facts, runs and events, and the contracts that several packages implement.
// It imports only the standard library, and everything else in the module is
// written in its terms. The one thing to know: a conversation is a log of
// numbered records that is only ever added to; what is on screen is the branch
// that ends at the session's head.
package harness

import (
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Sentinels that every store and engine returns for these cases, wrapped with
// the operation and the id. Test them with [errors.Is].
var (
	// ErrNotFound means that nothing has the given id.
	ErrNotFound = errors.New("not found")
	// ErrExists means that the id is taken by something else.
	ErrExists = errors.New("exists already")
	// ErrBusy means that the agent or session already has an active run.
	ErrBusy = errors.New("busy with another run")
	// ErrClosed means use after Close.
	ErrClosed = errors.New("closed")
	// ErrLost means that another process took the session over: the lease's
	// generation is no longer the stored one and nothing was written.
	ErrLost = errors.New("the session was taken over by another window")
	// ErrStale means that the journal moved on since the caller read it.
	ErrStale = errors.New("the run moved on")
	// ErrRule means that a text is no rule, or none that fits; the error's text
	// says what to write instead.
	ErrRule = errors.New("not a rule")
	// ErrAwaiting means that a run of the session waits for a decision, so no
	// new run may start before it.
	ErrAwaiting = errors.New("a decision is waiting")
	// ErrDamaged means that stored bytes fail their checksum or shape. The
	// error around it names the file and the place.
	ErrDamaged = errors.New("damaged")
	// ErrNewer means that the file was written by a newer cairn.
	ErrNewer = errors.New("written by a newer cairn")
	// ErrForeign means that the file is not a cairn database.
	ErrForeign = errors.New("not a cairn database")
	// ErrLocked means that another process held the store for longer than the
	// bounded wait. The error around it names the holder.
	ErrLocked = errors.New("the store is in use")
)

// SessionID names one conversation and everything filed under it.
type SessionID string

// NoSession files notes and facts of no session, of ephemeral chats and of
// purged sessions. It cannot be typed as an id.
const NoSession SessionID = "*"

// MaxIDLength bounds a session id, in characters.
const MaxIDLength = 128

// RunID names one run: the execution of one turn.
type RunID string

// ParseSessionID sanitises what a person typed as the Strands harness does:
// trimmed, lower-cased, each character outside [a-z0-9_-] becomes one "-". It
// is an error if no letter or digit is left or the id is longer than
// [MaxIDLength]; changed says that the id is spelt otherwise than typed.
func ParseSessionID(typed string) (id SessionID, changed bool, err error) {
	s := strings.ToLower(strings.TrimSpace(typed))
	var b strings.Builder
	useful := false
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			useful = true
			b.WriteRune(r)
		case r == '_', r == '-':
			b.WriteRune(r)
		default:
			b.WriteByte('-')
		}
	}
	switch {
	case !useful:
		return "", false, fmt.Errorf("session id %q has no letter a-z or digit; give the session an id such as %q and put the name in --title", typed, "my-topic")
	case utf8.RuneCountInString(b.String()) > MaxIDLength:
		return "", false, fmt.Errorf("session id has %d characters, at most %d are allowed; give it a short id and put the name in --title", utf8.RuneCountInString(b.String()), MaxIDLength)
	}
	return SessionID(b.String()), b.String() != typed, nil
}

// idAlphabet is base32 in lower case without padding.
const idAlphabet = "abcdefghijklmnopqrstuvwxyz234567"

// NewID returns 10 random lower-case base32 characters (50 bits), the form of
// fresh session and run ids. Whoever stores it checks for a collision.
func NewID() string {
	var raw [7]byte
	// crypto/rand.Read never fails: it ends the program instead.
	_, _ = rand.Read(raw[:])
	return base32.NewEncoding(idAlphabet).WithPadding(base32.NoPadding).EncodeToString(raw[:])[:10]
}
