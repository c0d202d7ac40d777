// Package snapshot keeps a session as portable, versioned files: one document
// with the conversation and its configuration, and beside it the artifacts by
// their sha256. The one thing to know: a reader sees the last document that was
// saved whole or the one before it, never a part of one.
//
// One rule holds for keys and passwords, that of [harness.Transcript] and
// [harness.Facts]: what was said is kept as it was said, and so is a system
// prompt. The configuration has no place for keys, tools, grants or connections;
// whoever loads a snapshot supplies them again.
package snapshot

import (
	"encoding/json"
	"errors"
	"time"

	"cairn/harness"
)

// Version is the version of the documents that [Encode] writes. [Decode] reads
// it and all earlier ones.
const Version = 1

// Sentinels of this package, wrapped with the operation and the id. Bytes that
// fail their checksum or shape are [harness.ErrDamaged], a later version is
// [harness.ErrNewer], an id without a snapshot [harness.ErrNotFound].
var (
	// ErrConfig means that the configuration asked for is not the saved one. The
	// error around it names the field.
	ErrConfig = errors.New("the snapshot has another configuration")
	// ErrExtensions means that state was saved for extensions that the loader
	// does not have. The error around it lists them.
	ErrExtensions = errors.New("the snapshot needs extensions that were not supplied")
	// ErrArtifacts means that records name artifacts of which nobody has the
	// bytes. The error around it lists them.
	ErrArtifacts = errors.New("artifacts are missing")
	// ErrInvalid means that a document cannot be saved as it is. The error
	// around it says what is wrong.
	ErrInvalid = errors.New("not a document that can be saved")
	// ErrAddress means that [Open] knows no store for a URL.
	ErrAddress = errors.New("not a place for snapshots")
)

// Document is one session with all that is needed to go on with it.
type Document struct {
	// ID is sanitised as [harness.ParseSessionID] does.
	ID      harness.SessionID `json:"id"`
	Title   string            `json:"title,omitempty"`
	TitleBy harness.TitleBy   `json:"title_by,omitempty"`
	Created time.Time         `json:"created"`
	Saved   time.Time         `json:"saved"`
	Config  Config            `json:"config"`
	// Head is the record at which the branch on screen ends, 0 if there is none.
	Head int `json:"head"`
	// Records are the session's log or the branch alone, in the order of Seq.
	Records []harness.Record `json:"records,omitempty"`
	// Usage counts the whole session, with its estimated cost in USD.
	Usage harness.Usage `json:"usage"`
	// Learned are the limits that providers were seen to have, by
	// "provider/model".
	Learned map[string]Learned `json:"learned,omitempty"`
	// Tasks is the model's task list.
	Tasks []Task `json:"tasks,omitempty"`
	// Extensions is the state of each extension by its name.
	Extensions map[string]json.RawMessage `json:"-"`
	Artifacts  []Artifact                 `json:"artifacts,omitempty"`
}

// Config is the configuration of a session. Zero fields mean the default.
type Config struct {
	// Model is "provider/model".
	Model string `json:"model,omitempty"`
	// System is the system prompt.
	System   string `json:"system,omitempty"`
	NoMemory bool   `json:"no_memory,omitempty"`
	Limits   Limits `json:"limits"`
}

// Limits bound what a turn may take. 0 means the default.
type Limits struct {
	// Steps bounds the model calls of a turn.
	Steps int `json:"steps,omitempty"`
	// Window and Reply are in tokens, Result in characters.
	Window int `json:"window,omitempty"`
	Reply  int `json:"reply,omitempty"`
	Result int `json:"result,omitempty"`
	// Cost is in USD; InputPrice and OutputPrice are in USD per million tokens.
	Cost        float64 `json:"cost,omitempty"`
	InputPrice  float64 `json:"input_price,omitempty"`
	OutputPrice float64 `json:"output_price,omitempty"`
	// Attempts counts the calls of one step in all; Backoff and Timeout are in
	// seconds.
	Attempts int     `json:"attempts,omitempty"`
	Backoff  float64 `json:"backoff,omitempty"`
	Timeout  float64 `json:"timeout,omitempty"`
}

// Learned are the limits of one model, in tokens; 0 means unknown.
type Learned struct {
	Window int `json:"window,omitempty"`
	Reply  int `json:"reply,omitempty"`
}

// Task is one item of a task list.
type Task struct {
	Text   string `json:"text"`
	Status string `json:"status,omitempty"`
}

// Artifact is a large result or an attachment that is stored apart.
type Artifact struct {
	// SHA256 is the digest of the bytes, in lower-case hexadecimal.
	SHA256 string `json:"sha256"`
	// Size is in bytes.
	Size      int64  `json:"size"`
	MediaType string `json:"media_type,omitempty"`
	// Data are the bytes, which the document itself does not hold.
	Data []byte `json:"-"`
}
