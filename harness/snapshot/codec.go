package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"cairn/harness"
)

// envelope is what a file holds. The checksum is that of the document's JSON
// without white space, so that a file may be indented and still be the same.
type envelope struct {
	Version  int             `json:"cairn_snapshot"`
	SHA256   string          `json:"sha256"`
	Document json.RawMessage `json:"document"`
}

// version1 is a document as version 1 has it.
type version1 struct {
	Document

	Extensions map[string]state `json:"extensions,omitempty"`
}

// state is the state of one extension with its own checksum.
type state struct {
	SHA256 string          `json:"sha256"`
	State  json.RawMessage `json:"state"`
}

// Encode returns the file of a document. The bytes of its artifacts are not in it.
func Encode(d Document) ([]byte, error) {
	if err := check(d); err != nil {
		return nil, fmt.Errorf("encode snapshot %s: %w: %w", d.ID, ErrInvalid, err)
	}
	v := version1{Document: d}
	for _, name := range slices.Sorted(maps.Keys(d.Extensions)) {
		raw, err := compact(d.Extensions[name])
		if err != nil {
			return nil, fmt.Errorf("encode snapshot %s: %w: state of extension %q: %w", d.ID, ErrInvalid, name, err)
		}
		if v.Extensions == nil {
			v.Extensions = map[string]state{}
		}
		v.Extensions[name] = state{digest(raw), raw}
	}
	doc, err := marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode snapshot %s: %w: %w", d.ID, ErrInvalid, err)
	}
	// What is compact already is not gone through again.
	file := make([]byte, 0, len(doc)+128)
	file = fmt.Appendf(file, `{"cairn_snapshot":%d,"sha256":"%s","document":`, Version, digest(doc))
	return append(append(file, doc...), '}', '\n'), nil
}

// Decode reads the file of a document. It is strict: a version or field that it
// does not know, a wrong checksum and a truncated file are errors that say so.
func Decode(file []byte) (Document, error) {
	d, err := decode(file)
	if err != nil {
		return Document{}, fmt.Errorf("decode snapshot: %w", err)
	}
	return d, nil
}

func decode(file []byte) (Document, error) {
	// The version comes first: what else a later one holds is unknown.
	var head struct {
		Version *int `json:"cairn_snapshot"`
	}
	switch err := one(file, &head, false); {
	case err != nil:
		return Document{}, err
	case head.Version == nil:
		return Document{}, fmt.Errorf("%w: it has no version, so it is no snapshot of cairn", harness.ErrDamaged)
	case *head.Version > Version:
		return Document{}, fmt.Errorf("%w: version %d, this cairn reads up to %d", harness.ErrNewer, *head.Version, Version)
	case *head.Version < 1:
		return Document{}, fmt.Errorf("%w: version %d never existed", harness.ErrDamaged, *head.Version)
	}
	var e envelope
	if err := one(file, &e, true); err != nil {
		return Document{}, err
	}
	if err := e.verify(); err != nil {
		return Document{}, err
	}
	var v version1
	if err := one(e.Document, &v, true); err != nil {
		return Document{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(v.Extensions)) {
		s := v.Extensions[name]
		if digest(s.State) != s.SHA256 {
			return Document{}, fmt.Errorf("%w: checksum mismatch in the state of extension %q", harness.ErrDamaged, name)
		}
		if v.Document.Extensions == nil {
			v.Document.Extensions = map[string]json.RawMessage{}
		}
		v.Document.Extensions[name] = s.State
	}
	if err := check(v.Document); err != nil {
		return Document{}, fmt.Errorf("%w: %w", harness.ErrDamaged, err)
	}
	return v.Document, nil
}

// verify compares the document with its checksum. One that is indented is made
// compact.
func (e *envelope) verify() (err error) {
	if digest(e.Document) == e.SHA256 {
		return nil
	}
	if e.Document, err = compact(e.Document); err != nil {
		return fmt.Errorf("%w: the document: %w", harness.ErrDamaged, err)
	}
	if sum := digest(e.Document); sum != e.SHA256 {
		return fmt.Errorf("%w: checksum mismatch: the document has sha256 %s, want %s", harness.ErrDamaged, sum, e.SHA256)
	}
	return nil
}

// one decodes raw, which must be one JSON value and nothing after it.
func one(raw []byte, into any, strict bool) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if strict {
		dec.DisallowUnknownFields()
	}
	switch err := dec.Decode(into); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: truncated after %d bytes", harness.ErrDamaged, len(raw))
	case err != nil:
		return fmt.Errorf("%w: %w", harness.ErrDamaged, plain(err))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: something follows the end at byte %d", harness.ErrDamaged, dec.InputOffset())
	}
	return nil
}

// plain says without the names of Go types what does not fit.
func plain(err error) error {
	var shape *json.UnmarshalTypeError
	var moment *time.ParseError
	switch {
	case errors.As(err, &shape):
		// Embedded structs stand in the path of a field as if they were fields.
		field := shape.Field[strings.LastIndexByte(shape.Field, '.')+1:]
		return fmt.Errorf("the field %q at byte %d cannot hold this: %s", field, shape.Offset, shape.Value)
	case errors.As(err, &moment):
		return fmt.Errorf("%.40q is no time", moment.Value)
	}
	return err
}

// marshal returns v as compact JSON in which < and & stand for themselves.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func compact(raw []byte) ([]byte, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
