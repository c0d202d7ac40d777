package rules

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"cairn/harness"
)

// MaxArtifact bounds one artifact, in bytes.
const MaxArtifact = 64 << 20

// DigestLength is that of a sha256 in hexadecimal.
const DigestLength = 2 * sha256.Size

// Bytes is an artifact with its name.
type Bytes struct {
	SHA256 string
	Data   []byte
}

// NewBytes names data. More than [MaxArtifact] is an error.
func NewBytes(data []byte) (Bytes, error) {
	if len(data) > MaxArtifact {
		return Bytes{}, fmt.Errorf("it has %.1f MB, and at most %d MB are kept of one file or result: make it smaller", float64(len(data))/(1<<20), MaxArtifact>>20)
	}
	return Bytes{harness.ArtifactName(data), data}, nil
}

// Digits returns what an artifact is asked for by, in the form that names have.
func Digits(asked string) (string, error) {
	digits := strings.ToLower(asked)
	if len(digits) < harness.MinArtifact || len(digits) > DigestLength || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", fmt.Errorf("%.80q is neither a sha256 nor the first %d digits of one: %w", asked, harness.MinArtifact, harness.ErrNotFound)
	}
	return digits, nil
}

// Ambiguous refuses digits that several artifacts begin with.
func Ambiguous(digits string) error {
	return fmt.Errorf("several artifacts begin with %s, give more digits: %w", digits, harness.ErrNotFound)
}

// RecordsApart returns records without the bytes of the files in their messages,
// which are returned apart. What it is given stays as it is.
func RecordsApart(records []harness.Record) (apart []harness.Record, files []Bytes, err error) {
	apart = records
	for i, r := range records {
		m, more, err := MessageApart(r.Message)
		if err != nil {
			return nil, nil, err
		}
		if len(more) == 0 {
			continue
		}
		if len(files) == 0 {
			apart = slices.Clone(records)
		}
		apart[i].Message, files = m, append(files, more...)
	}
	return apart, files, nil
}

// ImportApart does the same for an import that comes with artifacts.
func ImportApart(records []harness.Record, artifacts [][]byte) (apart []harness.Record, files []Bytes, err error) {
	apart, files, err = RecordsApart(records)
	for _, data := range artifacts {
		if err != nil {
			return nil, nil, err
		}
		var b Bytes
		b, err = NewBytes(data)
		files = append(files, b)
	}
	return apart, files, err
}

// MessageApart does for one message what [RecordsApart] does for records.
func MessageApart(m *harness.Message) (apart *harness.Message, files []Bytes, err error) {
	if m == nil || !slices.ContainsFunc(m.Parts, hasBytes) {
		return m, nil, nil
	}
	changed := *m
	changed.Parts = slices.Clone(m.Parts)
	for i := range changed.Parts {
		if !hasBytes(changed.Parts[i]) {
			continue
		}
		changed.Parts[i] = changed.Parts[i].OwnFiles()
		for _, file := range changed.Parts[i].Files() {
			if len(file.Data) == 0 {
				continue
			}
			b, err := NewBytes(file.Data)
			if err != nil {
				return nil, nil, fmt.Errorf("file %q: %w", file.Name, err)
			}
			file.Artifact, file.Size, file.Data = b.SHA256, int64(len(b.Data)), nil
			files = append(files, b)
		}
	}
	return &changed, files, nil
}

func hasBytes(p harness.Part) bool {
	return slices.ContainsFunc(p.Files(), func(f *harness.File) bool { return len(f.Data) > 0 })
}
