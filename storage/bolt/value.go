package bolt

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

const (
	valueVersion = 1
	// valueHead is the version byte and the checksum.
	valueHead = 1 + 4
)

// castagnoli is the polynomial that processors compute themselves.
var castagnoli = crc32.MakeTable(crc32.Castagnoli) //nolint:gochecknoglobals // a table that nobody changes

// encode returns v as it is stored under key in the bucket at path.
func encode(path string, key []byte, v any) ([]byte, error) {
	var buf bytes.Buffer
	buf.Write(make([]byte, valueHead))
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode %s: %w", place(path, key), err)
	}
	raw := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	raw[0] = valueVersion
	binary.BigEndian.PutUint32(raw[1:], checksum(path, key, raw[valueHead:]))
	return raw, nil
}

// sealed returns a payload as a value.
func sealed(path string, key, text []byte) []byte {
	raw := make([]byte, valueHead, valueHead+len(text))
	raw[0] = valueVersion
	binary.BigEndian.PutUint32(raw[1:], checksum(path, key, text))
	return append(raw, text...)
}

// decode reads a value that [encode] wrote. Its errors say what is wrong with
// the bytes, not where they are.
func decode(path string, key, raw []byte, into any) error {
	if err := verify(path, key, raw); err != nil {
		return err
	}
	return json.Unmarshal(raw[valueHead:], into)
}

// verify checks that a value is whole and belongs under its key.
func verify(path string, key, raw []byte) error {
	switch {
	case len(raw) < valueHead:
		return errors.New("value too short")
	case raw[0] != valueVersion:
		return fmt.Errorf("value version %d", raw[0])
	case binary.BigEndian.Uint32(raw[1:]) != checksum(path, key, raw[valueHead:]):
		return errors.New("checksum")
	}
	return nil
}

func checksum(path string, key, payload []byte) uint32 {
	sum := crc32.Update(0, castagnoli, []byte(path))
	sum = crc32.Update(sum, castagnoli, []byte{'/'})
	sum = crc32.Update(sum, castagnoli, key)
	return crc32.Update(sum, castagnoli, payload)
}

// number is the key of the n-th thing of a bucket.
func number(n int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

func numberOf(key []byte) (int, bool) {
	if len(key) != 8 {
		return 0, false
	}
	return int(binary.BigEndian.Uint64(key)), true
}

// place names a key for people.
func place(path string, key []byte) string {
	if len(key) == 0 {
		return path
	}
	return path + "/" + showKey(key)
}

func showKey(key []byte) string {
	prefix, rest := "", key
	if i := bytes.IndexByte(key, '/'); i >= 0 && len(key) == i+1+8 {
		prefix, rest = string(key[:i+1]), key[i+1:]
	}
	if n, ok := numberOf(rest); ok && rest[0] == 0 {
		return prefix + strconv.Itoa(n)
	}
	return strings.Trim(strconv.QuoteToASCII(string(key)), `"`)
}
