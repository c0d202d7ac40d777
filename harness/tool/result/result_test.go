package result_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"cairn/harness"
	"cairn/harness/tool"
	"cairn/harness/tool/result"
)

// shelf keeps artifacts of one session.
type shelf struct {
	kept map[string][]byte
	puts int
	err  error
}

func (s *shelf) Put(_ context.Context, _ harness.SessionID, data []byte) (string, error) {
	if s.kept == nil {
		s.kept = map[string][]byte{}
	}
	s.puts++
	sum := sha256.Sum256(data)
	id := hex.EncodeToString(sum[:])
	s.kept[id] = data
	return id, nil
}

func (s *shelf) Get(_ context.Context, session harness.SessionID, id string) ([]byte, error) {
	if s.err != nil {
		return nil, s.err
	}
	for sum, data := range s.kept {
		if session == "one" && strings.HasPrefix(sum, id) {
			return data, nil
		}
	}
	return nil, fmt.Errorf("artifact %s: %w", id, harness.ErrNotFound)
}

// desk is a set with the tool and one that returns what it is given.
type desk struct {
	*tool.Set

	shelf *shelf
	text  string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{shelf: &shelf{}}
	d.Set = &tool.Set{Artifacts: d.shelf}
	flood, err := tool.New("flood", "Tell much.", func(context.Context, tool.Call, struct{}) (string, error) { return d.text, nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.Add(flood), result.Register(d.Set, d.shelf)); err != nil {
		t.Fatal(err)
	}
	return d
}

// store keeps a text and returns the id that the model is shown.
func (d *desk) store(t *testing.T, text string) string {
	t.Helper()
	d.text = text
	r := d.Run(t.Context(), harness.ToolCall{ID: "c", Name: "flood", Input: []byte(`{}`)}, tool.Call{Session: "one"})
	m := regexp.MustCompile(`read or search it with read_tool_result and the id ([0-9a-f]{16})\.\)`).FindStringSubmatch(r.Text)
	if m == nil || !strings.HasPrefix(r.Artifact, m[1]) {
		t.Fatalf("the preview of %q is %.300q", r.Artifact, r.Text)
	}
	return m[1]
}

func (d *desk) read(t *testing.T, args map[string]any) harness.ToolResult {
	t.Helper()
	input, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return d.Run(t.Context(), harness.ToolCall{ID: "c", Name: tool.ReadResult, Input: input}, tool.Call{Session: "one"})
}

// body is a result without its head.
func body(text string) string {
	_, rest, _ := strings.Cut(text, "\n")
	return rest
}

// next is where the head says that more follows, as arguments.
func next(head string) map[string]any {
	args := map[string]any{}
	for _, m := range regexp.MustCompile(`(offset|char_offset) (\d+)`).FindAllStringSubmatch(strings.SplitN(head, "\n", 2)[0], -1) {
		args[m[1]] = json.Number(m[2])
	}
	return args
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func TestAResultIsReadByLines(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.store(t, numbered(3_000))
	for name, c := range map[string]struct {
		args              map[string]any
		head, first, last string
	}{
		"from the start":     {nil, "lines 1 to 200 of 3000; more follow from offset 201)", "line 1\n", "\nline 200"},
		"from a line":        {map[string]any{"offset": 2_990}, "lines 2990 to 3000 of 3000; this is the end)", "line 2990\n", "\nline 3000"},
		"a few lines":        {map[string]any{"offset": 5, "limit": 2}, "lines 5 to 6 of 3000; more follow from offset 7)", "line 5\n", "\nline 6"},
		"one line":           {map[string]any{"offset": 5, "limit": 1}, "line 5 of 3000; more follow from offset 6)", "line 5", "line 5"},
		"within a line":      {map[string]any{"offset": 5, "char_offset": 3, "limit": 2}, "line 5 from character 3; more", "e 5\n", "\nline 6"},
		"no more than fits":  {map[string]any{"limit": 2_000, "max_chars": 200}, "lines 1 to 26 of 3000; more follow from offset 27)", "line 1\n", "\nline 26"},
		"more than asked":    {map[string]any{"limit": 100_000, "max_chars": 1_000_000}, "lines 1 to 2000 of 3000", "line 1\n", "\nline 2000"},
		"a page has 6000 at": {map[string]any{"limit": 2_000}, "lines 1 to 678 of 3000", "line 1\n", "\nline 678"},
	} {
		args := map[string]any{"id": id}
		for k, v := range c.args {
			args[k] = v
		}
		r := d.read(t, args)
		if got := body(r.Text); r.Failed || !strings.Contains(r.Text, c.head) || !strings.HasPrefix(got, c.first) || !strings.HasSuffix(got, c.last) {
			t.Errorf("%s: %.200q … %q", name, r.Text, r.Text[max(0, len(r.Text)-30):])
		}
	}
}

func TestALineWithoutEndIsReadByCharacters(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	const family = "👩‍👩‍👧‍👦"
	whole := strings.Repeat("a"+family+"é", 5_000) + "\nthe end"
	args := map[string]any{"id": d.store(t, whole), "max_chars": 1_001}
	var all strings.Builder
	for pages := 0; ; pages++ {
		r := d.read(t, args)
		text := body(r.Text)
		if r.Failed || pages > 60 || utf8.RuneCountInString(text) > 1_001 {
			t.Fatalf("page %d: %.200q", pages, r.Text)
		}
		for g := graphemes.FromString(text); g.Next(); {
			if v := g.Value(); len(v) > 2 && v != family {
				t.Fatalf("page %d begins or ends within a cluster: %q", pages, v)
			}
		}
		all.WriteString(text)
		if strings.Contains(r.Text, "this is the end)") {
			break
		}
		for k, v := range next(r.Text) {
			args[k] = v
		}
		if args["offset"] == json.Number("2") {
			delete(args, "char_offset")
			all.WriteByte('\n')
		}
	}
	if all.String() != whole {
		t.Errorf("the pages have %d bytes, the result %d", all.Len(), len(whole))
	}
}

// A place within a cluster is that before it, so that nothing is halved.
func TestAPlaceWithinAClusterIsTheOneBefore(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.store(t, strings.Repeat("🇳🇴", 20_000))
	r := d.read(t, map[string]any{"id": id, "char_offset": 20_001, "max_chars": 200})
	if !strings.Contains(r.Text, "characters 20000 to 20200 of its 40000") || body(r.Text) != strings.Repeat("🇳🇴", 100) {
		t.Errorf("got %.300q", r.Text)
	}
	// One cluster that is longer than a page still comes to an end.
	id = d.store(t, "x"+strings.Repeat("\u0301", 20_000))
	r = d.read(t, map[string]any{"id": id, "max_chars": 200})
	if r.Failed || !strings.Contains(r.Text, "char_offset 200") {
		t.Errorf("got %.300q", r.Text)
	}
	r = d.read(t, map[string]any{"id": id, "max_chars": 200, "char_offset": 19_990})
	if r.Failed || !strings.Contains(r.Text, "this is the end") {
		t.Errorf("got %.300q", r.Text)
	}
}

func TestWhatCannotBeReadIsSaid(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.store(t, numbered(2_000))
	picture, _ := d.shelf.Put(t.Context(), "one", []byte("\x89PNG\r\n\x1a\n\x00\x00"))
	empty, _ := d.shelf.Put(t.Context(), "one", nil)
	for name, c := range map[string]struct {
		args   map[string]any
		says   string
		failed bool
	}{
		"no id":            {map[string]any{"id": ""}, "is no id of a stored result", true},
		"too short":        {map[string]any{"id": id[:11]}, "is no id of a stored result: that has 12 to 64", true},
		"no digits":        {map[string]any{"id": "../../etc/passwd"}, "is no id", true},
		"unknown":          {map[string]any{"id": strings.Repeat("0", 16)}, "no stored result of this conversation has the id 0000000000000000", true},
		"binary":           {map[string]any{"id": picture}, "binary data (image/png, 10 bytes)", true},
		"empty":            {map[string]any{"id": empty}, "is empty)", false},
		"search empty":     {map[string]any{"id": empty, "search": "x"}, "is empty)", false},
		"behind the end":   {map[string]any{"id": id, "offset": 2_001}, "has only 2000 lines", true},
		"behind the line":  {map[string]any{"id": id, "char_offset": 7}, "has only 6 characters", true},
		"negative":         {map[string]any{"id": id, "limit": -1}, "must not be negative", true},
		"endless pattern":  {map[string]any{"id": id, "search": strings.Repeat("a", 201)}, "at most 200", true},
		"nothing found":    {map[string]any{"id": id, "search": "nowhere"}, "nothing is found for the text \"nowhere\"", false},
		"as a model types": {map[string]any{"id": " `" + strings.ToUpper(id) + "…` "}, "lines 1 to 200", false},
	} {
		r := d.read(t, c.args)
		if r.Failed != c.failed || !strings.Contains(r.Text, c.says) {
			t.Errorf("%s: failed %t, %.300q", name, r.Failed, r.Text)
		}
	}
	d.shelf.err = harness.ErrDamaged
	if r := d.read(t, map[string]any{"id": id}); !r.Failed || !strings.Contains(r.Text, "damaged") {
		t.Errorf("damage reads %q", r.Text)
	}
}

func TestAResultIsSearched(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.store(t, strings.Replace(numbered(3_000), "line 1500\n", "func main(x) {\n", 1))
	for name, c := range map[string]struct {
		args map[string]any
		want string
	}{
		"a text that is no expression": {
			map[string]any{"search": "main(x"},
			"1498- line 1498\n1499- line 1499\n1500: func main(x) {\n1501- line 1501\n1502- line 1502\n",
		},
		"a text that is one, too": {map[string]any{"search": "main(x)"}, "1500: func main(x) {\n"},
		"an expression":           {map[string]any{"search": `^func \w+\(`}, "1500: func main(x) {\n"},
		"neighbours": {
			map[string]any{"search": "line 100$|line 101$|line 105$"},
			"98- line 98\n99- line 99\n100: line 100\n101: line 101\n102- line 102\n103- line 103\n104- line 104\n105: line 105\n106- line 106\n107- line 107\n",
		},
		"two places": {
			map[string]any{"search": "line 100$|line 200$"},
			"102- line 102\n--\n198- line 198\n",
		},
		"from a line on": {map[string]any{"search": "line 2$|line 9$", "offset": 3}, "7- line 7\n8- line 8\n9: line 9\n10- line 10\n11- line 11\n"},
		"at both ends":   {map[string]any{"search": "line 1$|line 3000"}, "1: line 1\n2- line 2\n3- line 3\n--\n2998- line 2998\n2999- line 2999\n3000: line 3000\n"},
	} {
		args := map[string]any{"id": id}
		for k, v := range c.args {
			args[k] = v
		}
		if r := d.read(t, args); r.Failed || !strings.Contains(body(r.Text), c.want) || !strings.Contains(r.Text, "that is all)") {
			t.Errorf("%s: %s", name, r.Text)
		}
	}
	r := d.read(t, map[string]any{"id": id, "search": "line", "max_chars": 200})
	if !strings.Contains(r.Text, "there may be more from offset ") || utf8.RuneCountInString(body(r.Text)) > 200 {
		t.Errorf("got %s", r.Text)
	}
	r = d.read(t, map[string]any{"id": id, "search": "line", "limit": 3})
	if !strings.Contains(r.Text, "3 found") || !strings.Contains(r.Text, "more from offset 4)") {
		t.Errorf("got %s", r.Text)
	}
}

func TestALineWithoutEndIsSearched(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	unit := strings.Repeat("né", 1_000) + "NEEDLE"
	id := d.store(t, strings.Repeat(unit, 40))
	seen, args := 0, map[string]any{"id": id, "search": "NEED(LE)", "max_chars": 1_500}
	for range 20 {
		r := d.read(t, args)
		for _, line := range strings.Split(strings.TrimSpace(body(r.Text)), "\n") {
			seen++
			want := fmt.Sprintf("1: character %d: …", seen*2_006-6)
			if !strings.HasPrefix(line, want) || strings.Count(line, "NEEDLE") != 1 || utf8.RuneCountInString(line) > 300 {
				t.Fatalf("number %d is %q, want %q", seen, line, want)
			}
		}
		if strings.Contains(r.Text, "that is all)") {
			break
		}
		for k, v := range next(r.Text) {
			args[k] = v
		}
	}
	if seen != 40 {
		t.Errorf("%d of 40 were found", seen)
	}
	// What matches everywhere, or nothing at all, still comes to an end.
	for _, pattern := range []string{"n", "x*", ".*", "^né", "né.+"} {
		r := d.read(t, map[string]any{"id": id, "search": pattern, "max_chars": 50_000, "limit": 2_000})
		if r.Failed || utf8.RuneCountInString(r.Text) > 50_300 {
			t.Errorf("%q: %d characters, %.200q", pattern, len(r.Text), r.Text)
		}
		if pattern == "^né" && strings.Count(body(r.Text), "\n") != 1 {
			t.Errorf("the beginning of the line is found %d times", strings.Count(body(r.Text), "\n"))
		}
	}
}

// One endless line, then very many short ones: stored once, and every page of it
// bounded and in the conversation.
func TestAFloodIsStoredOnceAndRead(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"5 MB on one line":         strings.Repeat(`{"a":[1,2,3]},`, 5_000_000/14),
		"12 MiB and 200,000 lines": strings.Repeat("x", 12<<20) + "\n" + strings.Repeat("short line\n", 200_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			id := d.store(t, text)
			for _, args := range []map[string]any{
				{},
				{"max_chars": 50_000},
				{"limit": 2_000, "max_chars": 50_000},
				{"char_offset": 4_000_000, "max_chars": 50_000},
				{"search": "nowhere"},
				{"search": "no[w]here"},
				{"search": "[1x]", "max_chars": 50_000, "limit": 2_000},
			} {
				args["id"] = id
				r := d.read(t, args)
				if n := utf8.RuneCountInString(r.Text); r.Failed || r.Artifact != "" || n > 50_300 || strings.Contains(r.Text, "The result was too long") {
					t.Errorf("%v: failed %t, %d characters, artifact %q, %.100q", args, r.Failed, n, r.Artifact, r.Text)
				}
			}
			if d.shelf.puts != 1 || string(d.shelf.kept[hexOf(text)]) != text {
				t.Errorf("it was stored %d times", d.shelf.puts)
			}
		})
	}
}

func hexOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestTheToolIsSafeAndAllowed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	got, ok := d.Lookup(tool.ReadResult)
	if !ok || got.Permission != tool.Allow || got.Replay != tool.Safe || !got.Whole {
		t.Errorf("the tool is %+v", got)
	}
	none := &tool.Set{}
	if err := result.Register(none, nil); err != nil || len(none.Names()) > 0 {
		t.Errorf("without a store: %v, %v", none.Names(), err)
	}
}

func FuzzReading(f *testing.F) {
	f.Add("a line\nand another", "line", 1, 0, 200, 10)
	f.Add(strings.Repeat("👩‍👩‍👧‍👦", 300), "👩", 1, 7, 200, 1)
	f.Add("x\xff\xfe\n\n\n", "^$|(", 2, 0, 0, 0)
	f.Add("e"+strings.Repeat("\u0301", 900), "", 1, 300, 201, 3)
	f.Fuzz(func(t *testing.T, text, search string, offset, char, size, limit int) {
		s := &shelf{}
		id, _ := s.Put(t.Context(), "one", []byte(text))
		set := &tool.Set{}
		if err := result.Register(set, s); err != nil {
			t.Fatal(err)
		}
		d := &desk{Set: set, shelf: s}
		r := d.read(t, map[string]any{"id": id, "search": search, "offset": offset, "char_offset": char, "max_chars": size, "limit": limit})
		if !utf8.ValidString(r.Text) || strings.Contains(r.Text, "broke") && strings.HasPrefix(r.Text, "the tool broke") {
			t.Errorf("got %q", r.Text)
		}
		if n := utf8.RuneCountInString(r.Text); n > max(200, min(size, 50_000))+6_500 {
			t.Errorf("%d characters for a page of %d", n, size)
		}
	})
}
