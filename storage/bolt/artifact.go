package bolt

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/storage/internal/rules"
)

const (
	// artifactsName is the bucket in that of a session.
	artifactsName = "artifacts"
	// pieceSize is how many bytes of an artifact are one value, so that no value
	// takes a long run of pages.
	pieceSize = 64 << 10
	// largeWrite is how many bytes of pieces a transaction may write before
	// others are told to wait for it.
	largeWrite = 8 << 20
)

// artifactHead is the value of artifacts/<sha256>/head.
type artifactHead struct {
	// Size is in bytes, Pieces counts the values from 1 on.
	Size   int64 `json:"size"`
	Pieces int   `json:"pieces"`
}

// A piece is an object with one field, in base64: "deflate" if that makes it
// smaller, else "plain". It is put together here, as no more is needed.
const (
	deflatedFrom = `{"deflate":"`
	plainFrom    = `{"plain":"`
	pieceTo      = `"}`
)

// packed is an artifact as it is stored, but for the places of its values.
type packed struct {
	name   string
	head   artifactHead
	pieces [][]byte
}

// pack prepares an artifact, which takes long, before the transaction.
func pack(b rules.Bytes) (packed, error) {
	p := packed{name: b.SHA256, head: artifactHead{Size: int64(len(b.Data))}}
	var small bytes.Buffer
	w, err := flate.NewWriter(&small, flate.BestSpeed)
	if err != nil {
		return p, fmt.Errorf("pack: %w", err)
	}
	for rest := b.Data; len(rest) > 0; {
		part := rest[:min(pieceSize, len(rest))]
		rest = rest[len(part):]
		small.Reset()
		w.Reset(&small)
		if _, err := w.Write(part); err != nil {
			return p, fmt.Errorf("pack: %w", err)
		}
		if err := w.Close(); err != nil {
			return p, fmt.Errorf("pack: %w", err)
		}
		piece, from := part, plainFrom
		if small.Len() < len(part) {
			piece, from = small.Bytes(), deflatedFrom
		}
		text := make([]byte, 0, len(from)+base64.StdEncoding.EncodedLen(len(piece))+len(pieceTo))
		text = base64.StdEncoding.AppendEncode(append(text, from...), piece)
		p.pieces = append(p.pieces, append(text, pieceTo...))
	}
	p.head.Pieces = len(p.pieces)
	return p, nil
}

// recordsApart returns records without the bytes of files, and these packed.
func recordsApart(records []harness.Record) ([]harness.Record, []packed, error) {
	apart, files, err := rules.RecordsApart(records)
	if err != nil {
		return nil, nil, err
	}
	all, err := packAll(files)
	return apart, all, err
}

// importApart does the same for an import, with what comes apart.
func importApart(records []harness.Record, whole [][]byte) ([]harness.Record, []packed, error) {
	apart, files, err := rules.ImportApart(records, whole)
	if err != nil {
		return nil, nil, err
	}
	all, err := packAll(files)
	return apart, all, err
}

// entriesApart does the same for entries.
func entriesApart(entries []run.Entry) ([]run.Entry, []packed, error) {
	apart, files, err := rules.EntriesApart(entries)
	if err != nil {
		return nil, nil, err
	}
	all, err := packAll(files)
	return apart, all, err
}

// closingsApart does the same for the entries that end runs.
func closingsApart(closes []run.Closing) ([]run.Closing, []packed, error) {
	apart, files, err := rules.ClosingsApart(closes)
	if err != nil {
		return nil, nil, err
	}
	all, err := packAll(files)
	return apart, all, err
}

// packAll prepares several.
func packAll(files []rules.Bytes) ([]packed, error) {
	var all []packed
	for _, b := range files {
		p, err := pack(b)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// fill writes an artifact into its new bucket.
func (a artifact) fill(p packed) error {
	if err := a.put(keyHead, p.head); err != nil {
		return err
	}
	for i, piece := range p.pieces {
		if err := a.putPayload(number(i+1), piece); err != nil {
			return err
		}
	}
	return nil
}

// storedArtifact is a copy of the values of an artifact, for use after the
// transaction.
type storedArtifact struct {
	name, path string
	head       artifactHead
	pieces     [][]byte
}

func (a artifact) stored() (storedArtifact, error) {
	s := storedArtifact{name: a.name, path: a.path}
	err := a.need(keyHead, &s.head)
	for i := 1; err == nil && i <= s.head.Pieces; i++ {
		a.t.touch(a.path, number(i))
		raw := a.b.Get(number(i))
		if raw == nil {
			err = a.t.d.damaged(place(a.path, number(i)), "the value is missing")
		}
		s.pieces = append(s.pieces, bytes.Clone(raw))
	}
	return s, err
}

// data puts an artifact together and looks whether it is what its name says.
func (s storedArtifact) data(d *DB) ([]byte, error) {
	if s.head.Size < 0 || s.head.Size > rules.MaxArtifact {
		return nil, d.damaged(place(s.path, keyHead), fmt.Sprintf("it has %d bytes", s.head.Size))
	}
	data := make([]byte, 0, s.head.Size)
	for i, raw := range s.pieces {
		key := number(i + 1)
		err := verify(s.path, key, raw)
		if err == nil {
			data, err = appendPiece(data, payload(raw))
		}
		if err != nil {
			return nil, d.damaged(place(s.path, key), err.Error())
		}
	}
	b, err := rules.NewBytes(data)
	if err != nil || b.SHA256 != s.name || int64(len(data)) != s.head.Size {
		return nil, d.damaged(s.path, "the bytes are not those that its name says")
	}
	return data, nil
}

var (
	errPiece = errors.New("it is no piece of an artifact")
	errLong  = errors.New("it is longer than a piece")
)

// appendPiece adds what a piece says to data.
func appendPiece(data, text []byte) ([]byte, error) {
	text, ok := bytes.CutSuffix(text, []byte(pieceTo))
	if !ok {
		return nil, errPiece
	}
	coded, plain := bytes.CutPrefix(text, []byte(plainFrom))
	if !plain {
		if coded, ok = bytes.CutPrefix(text, []byte(deflatedFrom)); !ok {
			return nil, errPiece
		}
	}
	if base64.StdEncoding.DecodedLen(len(coded)) > 2*pieceSize {
		return nil, errLong
	}
	piece, err := base64.StdEncoding.AppendDecode(nil, coded)
	if err != nil {
		return nil, err
	}
	if !plain {
		r := flate.NewReader(bytes.NewReader(piece))
		if piece, err = io.ReadAll(io.LimitReader(r, pieceSize+1)); err == nil {
			err = r.Close()
		}
		if err != nil {
			return nil, fmt.Errorf("it does not unpack: %w", err)
		}
	}
	if len(piece) > pieceSize {
		return nil, errLong
	}
	return append(data, piece...), nil
}

// sizeOf is how many bytes of pieces there are.
func sizeOf(all []packed) (size int64) {
	for _, p := range all {
		for _, piece := range p.pieces {
			size += int64(len(piece))
		}
	}
	return size
}

// announceLarge lets others wait for a transaction that writes so many bytes, if
// they are many, until it has ended.
func (t *tx) announceLarge(size int64) {
	if size < largeWrite || t.d.apart || t.announced {
		return
	}
	t.announced = true
	stop := t.d.announce("copy of a large file")
	end := func() {
		stop()
		// The next transaction is not a part of it.
		if err := writeNote(lockPath(t.d.path), lockHolder{Holder: t.d.self}); err != nil {
			t.d.log.Warn("say that the work is done", slog.Any("error", err))
		}
	}
	t.done, t.undo = append(t.done, end), append(t.undo, end)
}

// storedRecord is a record with what only the store needs of it.
type storedRecord struct {
	harness.Record
	// Artifacts are those that the message names and that the session had when it
	// was stored: they are there as long as the record is.
	Artifacts []string `json:"artifacts,omitempty"`
}
