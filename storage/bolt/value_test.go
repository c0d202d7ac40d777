package bolt

import (
	"encoding/json"
	"testing"
)

func TestValueBelongsToItsPlace(t *testing.T) {
	t.Parallel()
	raw, err := encode("sessions/a/conversation", number(7), "text & <tag>")
	if err != nil {
		t.Fatal(err)
	}
	var got string
	if err := decode("sessions/a/conversation", number(7), raw, &got); err != nil || got != "text & <tag>" {
		t.Fatalf("%q, %v", got, err)
	}
	for what, err := range map[string]error{
		"another key":     decode("sessions/a/conversation", number(8), raw, &got),
		"another session": decode("sessions/b/conversation", number(7), raw, &got),
		"cut":             decode("sessions/a/conversation", number(7), raw[:len(raw)-1], &got),
		"short":           decode("sessions/a/conversation", number(7), raw[:4], &got),
		"newer":           decode("sessions/a/conversation", number(7), append([]byte{9}, raw[1:]...), &got),
	} {
		if err == nil {
			t.Errorf("a value at %s is read", what)
		}
	}
}

func TestPlacesAreReadable(t *testing.T) {
	t.Parallel()
	for want, key := range map[string][]byte{
		"b/info":     []byte("info"),
		"b/12":       number(12),
		"b/log/3":    logKey(3),
		"b/s/abc":    whereSession("abc"),
		`b/\x1b[31m`: []byte("\x1b[31m"),
		"b":          nil,
	} {
		if got := place("b", key); got != want {
			t.Errorf("place %q, want %q", got, want)
		}
	}
}

func FuzzValue(f *testing.F) {
	good, err := encode("b", []byte("k"), "v")
	if err != nil {
		f.Fatal(err)
	}
	f.Add("b", []byte("k"), good)
	f.Add("", []byte(nil), []byte{1, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, path string, key, raw []byte) {
		var v json.RawMessage
		if decode(path, key, raw, &v) != nil {
			return
		}
		again, err := encode(path, key, v)
		if err != nil {
			t.Fatal(err)
		}
		var w json.RawMessage
		if err := decode(path, key, again, &w); err != nil {
			t.Fatal(err)
		}
	})
}
