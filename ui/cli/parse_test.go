package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"cairn/harness"
)

// Imports are refused as a whole, with the line of the fault.
func TestImportErrorsNameTheLine(t *testing.T) {
	t.Parallel()
	const s, m = `{"session":{"id":"a"}}`, `{"message":{"role":"user","content":"x"}}`
	for name, c := range map[string]struct{ text, want string }{
		"no JSON":              {s + "\nhello\n", "line 2: is not of the import format"},
		"a list":               {"[]\n", "line 1: is not of the import format: it is a array, not an object"},
		"empty object":         {s + "\n{}\n", `line 2: has neither a "session" nor a "message"`},
		"both":                 {`{"session":{"id":"a"},"message":{"role":"user","content":"x"}}`, "line 1: has both"},
		"message first":        {m, "line 1: a message comes before the first session"},
		"no id":                {`{"session":{"title":"x"}}`, "line 1: the session has no id"},
		"unknown role":         {s + "\n\n" + `{"message":{"role":"system","content":"x"}}`, `line 3: the role "system" cannot be imported`},
		"no content":           {s + "\n" + `{"message":{"role":"user"}}`, "line 2: the message has no content"},
		"content of two parts": {s + "\n" + `{"message":{"role":"user","content":[]}}`, "line 2: is not of the import format: message.content is a array"},
		"time":                 {`{"session":{"id":"a","created_at":"yesterday"}}`, "line 1: is not of the import format: created_at"},
		"not text":             {s + "\n" + `{"message":{"role":"user","content":"` + "\xff" + `"}}`, "line 2: is not UTF-8"},
		"unknown key":          {s + "\n" + `{"session":{"id":"b","titel":"x"}}`, `line 2: unknown key "session.titel"; did you mean title?`},
		"unknown key of two":   {s + "\n" + `{"message":{"role":"user","content":"x","tags":[]}}`, `line 2: unknown key "message.tags"; there is content, created_at, name, role`},
		"unknown part":         {`{"session":{"id":"a"},"mesage":{}}`, `line 1: unknown key "mesage"; did you mean message?`},
		"two objects":          {s + " " + m, "line 1: is not of the import format"},
		"more behind":          {s + " }", "line 1: is not of the import format"},
		"cut":                  {s + "\n" + m[:20], "line 2: is not of the import format"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list, err := parseImport(strings.NewReader(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) || list != nil {
				t.Errorf("%v, %v, not %q", list, err, c.want)
			}
		})
	}
}

// Sessions keep their messages, names and times, whatever ends the lines.
func TestImportReadsSessions(t *testing.T) {
	t.Parallel()
	text := "\ufeff" + `{"session":{"id":"a","title":"Ä","created_at":"2026-01-02T03:04:05Z"}}` + "\r\n" +
		`{"message":{"role":"user","name":"Ann","content":"` + strings.Repeat("x", 200_000) + `"}}` + "\r\n\r\n" +
		`{"message":{"role":"assistant","content":"","created_at":"2026-01-02T03:04:06+01:00"}}` + "\n" +
		`{"session":{"id":"b"}}`
	list, err := parseImport(strings.NewReader(text))
	if err != nil || len(list) != 2 {
		t.Fatalf("%d sessions, %v", len(list), err)
	}
	a := list[0]
	if a.ID != "a" || a.Meta.Title != "Ä" || a.Meta.Created.Year() != 2026 || len(a.Records) != 2 || len(list[1].Records) != 0 {
		t.Errorf("%+v", a)
	}
	if m := a.Records[0].Message; m.Name != "Ann" || len(m.Text()) != 200_000 || m.Role != harness.RoleUser {
		t.Errorf("first message %s %s, %d bytes", m.Role, m.Name, len(m.Text()))
	}
	if a.Records[1].At.IsZero() || !a.Records[0].At.IsZero() {
		t.Errorf("times %v, %v", a.Records[0].At, a.Records[1].At)
	}
}

// An import is right as a whole or an error with a line; a message belongs to
// a session and has a role.
func FuzzImport(f *testing.F) {
	f.Add([]byte(`{"session":{"id":"a"}}` + "\n" + `{"message":{"role":"user","content":"x"}}`))
	f.Add([]byte(`{"session":{"id":"../../x"}}` + "\r\n{}"))
	f.Add([]byte("\ufeff{\"session\":{\"id\":\"\x00\"}}"))
	f.Add([]byte(`{"message":null,"session":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := parseImport(bytes.NewReader(data))
		if err != nil {
			if list != nil || !strings.HasPrefix(err.Error(), "line ") {
				t.Fatalf("%v with %v", list, err)
			}
			return
		}
		for _, s := range list {
			if strings.TrimSpace(s.ID) == "" {
				t.Error("a session without id")
			}
			for _, r := range s.Records {
				if m := r.Message; m == nil || m.Role != harness.RoleUser && m.Role != harness.RoleAssistant || !utf8.ValidString(m.Text()) {
					t.Errorf("a wrong message: %+v", m)
				}
			}
		}
	})
}

// A --resume without a value gets an empty one, and --print in front makes a
// prompt of the rest.
func TestScan(t *testing.T) {
	t.Parallel()
	a := newApp(Streams{}, Wire{})
	set := pflag.NewFlagSet("x", pflag.ContinueOnError)
	a.globalFlags(set)
	a.chatFlags(set)
	for in, c := range map[string]struct {
		want  string
		print bool
	}{
		"-r":                    {want: "-r|"},
		"-r abc":                {want: "-r|abc"},
		"-r -m x/y":             {want: "-r||-m|x/y"},
		"--resume -p hi":        {want: "--resume||-p|hi", print: true},
		"--resume=abc hi":       {want: "--resume=abc|hi"},
		"-m -r sessions":        {want: "-m|-r|sessions"},
		"-qr":                   {want: "-qr|"},
		"-rabc":                 {want: "-rabc"},
		"hi -r":                 {want: "hi|-r|"},
		"-- -r":                 {want: "--|-r"},
		"-p search":             {want: "-p|search", print: true},
		"-qp search":            {want: "-qp|search", print: true},
		"search -p":             {want: "search|-p"},
		"--dir d -p sessions":   {want: "--dir|d|-p|sessions", print: true},
		"-m p sessions":         {want: "-m|p|sessions"},
		"-mp sessions":          {want: "-mp|sessions"},
		"--unknown -p sessions": {want: "--unknown|-p|sessions", print: true},
		"- -p":                  {want: "-|-p"},
	} {
		got, print := scan(set, strings.Fields(in))
		if diff := cmp.Diff(c.want, strings.Join(got, "|")); diff != "" || print != c.print {
			t.Errorf("%q: %q, print %v", in, got, print)
		}
	}
}

// The nearest name is one that a slip of the fingers makes.
func TestNearest(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 9)
	names := []string{"sessions", "search", "facts", "notes", "models", "db", "石塚のケルン", long}
	for word, want := range map[string]string{
		"sesions": "sessions", "session": "sessions", "Sessions": "sessions", "serach": "search",
		"note": "notes", "zebra": "", "explain": "", "": "", "石塚": "", "石塚のケルソ": "石塚のケルン", long + "x": "", "factsheet": "", "bd": "",
	} {
		if got, ok := nearest(word, names); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v, not %q", word, got, ok, want)
		}
	}
}

// JSON is the same value as before and holds nothing that acts on a terminal.
func FuzzJSONIsHarmless(f *testing.F) {
	f.Add("plain")
	f.Add("\u009b2J\x7f\u202e<b>\u2028 \x1b]0;x\x07")
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			t.Skip("strings in JSON are Unicode")
		}
		p, err := encode(harness.Event{Text: text}, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range string(bytes.TrimSuffix(p, []byte("\n"))) {
			if r < ' ' || r >= 0x7f && r <= 0x9f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
				t.Errorf("%q has %U in it", p, r)
			}
		}
		var back harness.Event
		if err := json.Unmarshal(p, &back); err != nil || back.Text != text {
			t.Errorf("%q came back as %q, %v", text, back.Text, err)
		}
	})
}
