package runtest

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"cairn/harness"
	"cairn/harness/run"
)

// frozen is what every engine leaves of each scene.
//
//go:embed testdata/engine/*.golden
var frozen embed.FS

// compare compares what is left of a scene with what every engine leaves.
func (s *stage) compare(name string) {
	s.t.Helper()
	s.fetch()
	got := s.left()
	file := strings.Map(func(r rune) rune {
		if r == ' ' || r == ',' {
			return '-'
		}
		return r
	}, name) + ".golden"
	// What only an engine of workers leaves is written by one, all else by the others.
	if os.Getenv("UPDATE_FROZEN") != "" && s.names == s.Elsewhere {
		_, here, _, _ := runtime.Caller(0)
		s.must(os.WriteFile(filepath.Join(filepath.Dir(here), "testdata", "engine", file), []byte(got), 0o644))
		return
	}
	want, err := frozen.ReadFile("testdata/engine/" + file)
	s.must(err)
	if got == string(want) {
		return
	}
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		g, w := at(gotLines, i), at(wantLines, i)
		if g != w {
			s.t.Errorf("line %d of %s:\n got %s\nwant %s", i+1, file, g, w)
			return
		}
	}
}

func at(lines []string, i int) string {
	if i >= len(lines) {
		return "(nothing)"
	}
	return lines[i]
}

// left is everything that a scene left, with names in place of ids and without
// times.
func (s *stage) left() string {
	s.t.Helper()
	var names []string
	for i, r := range s.runs() {
		names = append(names, string(r.ID), fmt.Sprint("run", i+1))
	}
	named := strings.NewReplacer(names...)
	var b strings.Builder
	section := func(name string, lines []string) {
		fmt.Fprintf(&b, "# %s\n", name)
		for _, l := range lines {
			fmt.Fprintln(&b, named.Replace(l))
		}
	}
	section("results", s.told)
	section("conversation", s.conversation())
	for _, r := range s.runs() {
		section(fmt.Sprintf("journal of %s: %s %s, cost %.6f", named.Replace(string(r.ID)), r.Status, r.Stop, r.Usage.Cost), s.kinds(r.ID))
	}
	section("memory", s.memoryLines())
	s.mu.Lock()
	defer s.mu.Unlock()
	effects := slices.Clone(s.effects)
	for i, e := range effects {
		effects[i] = named.Replace(e)
	}
	slices.Sort(effects)
	section("effects", effects)
	var messages []string
	for i, body := range s.bodies {
		var lines []string
		lines, messages = s.request(named.Replace(body), messages)
		section(fmt.Sprint("request ", i+1), lines)
	}
	return b.String()
}

// conversation are the records of the session. Results of calls that ran at the
// same time are in the order of the calls.
func (s *stage) conversation() []string {
	s.t.Helper()
	log, err := s.Transcript.Log(s.t.Context(), session, 0, 0)
	s.must(err)
	var lines []string
	var results []string
	flush := func() {
		slices.Sort(results)
		lines = append(lines, results...)
		results = nil
	}
	for _, r := range log {
		line := fmt.Sprintf("%s %s", r.Run, r.Kind)
		if r.Message == nil {
			flush()
			lines = append(lines, line+" "+brief(string(r.Data)))
			continue
		}
		m := *r.Message
		if s.names {
			m.Sent = nil // a name that has the run's id in it has no size of its own
		}
		line += " " + encode(&m)
		if r.Message.Role == harness.RoleTool {
			results = append(results, line)
			continue
		}
		flush()
		lines = append(lines, line)
	}
	flush()
	return lines
}

// encode renders a message with its long texts cut.
func encode(m *harness.Message) string {
	short := *m
	short.Parts = slices.Clone(m.Parts)
	for i, p := range short.Parts {
		short.Parts[i].Text = brief(p.Text)
		if p.Result != nil {
			r := *p.Result
			r.Text = brief(r.Text)
			short.Parts[i].Result = &r
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(short); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// kinds are the entries of a run as the session has them.
func (s *stage) kinds(id harness.RunID) []string {
	s.t.Helper()
	entries, err := s.Journal.Read(s.t.Context(), id, 0)
	s.must(err)
	lines := make([]string, len(entries))
	for i, e := range entries {
		lines[i] = kindLine(e)
	}
	return lines
}

func kindLine(e run.Entry) string {
	line := e.Kind
	if e.Message != nil {
		line += " " + string(e.Message.Role)
	}
	if e.Rewind {
		line += " rewound"
	}
	if e.Status != "" {
		line += strings.TrimSuffix(fmt.Sprintf(" status %s %s", e.Status, e.Stop), " ")
	}
	if e.Error != nil {
		line += " error " + e.Error.Kind
	}
	if e.Usage != (harness.Usage{}) {
		line += fmt.Sprintf(" usage %d+%d", e.Usage.Input, e.Usage.Output)
		if e.Usage.Incomplete {
			line += " incomplete"
		}
	}
	return line
}

// memoryLines are the facts and notes.
func (s *stage) memoryLines() []string {
	s.t.Helper()
	var lines []string
	facts, err := s.Facts.List(s.t.Context(), harness.MemoryFilter{State: harness.StateAny})
	s.must(err)
	for _, f := range facts {
		lines = append(lines, fmt.Sprintf("%s v%d %s %q by %s from %s %d used %d", f.ID, f.Revision, f.State, f.Text, f.By, f.Source.Session, f.Source.Message, f.Uses))
	}
	notes, err := s.Notes.List(s.t.Context(), harness.MemoryFilter{State: harness.StateAny})
	s.must(err)
	for _, n := range notes {
		lines = append(lines, fmt.Sprintf("%s v%d %s %q", n.ID, n.Revision, n.State, n.Title))
	}
	return lines
}

// request renders a request: what changed against the one before, and a digest of
// all of its bytes.
func (s *stage) request(body string, before []string) (lines, messages []string) {
	s.t.Helper()
	sum := sha256.Sum256([]byte(body))
	lines = append(lines, "sha256 "+hex.EncodeToString(sum[:8]))
	var fields map[string]json.RawMessage
	s.must(json.Unmarshal([]byte(body), &fields))
	var all []json.RawMessage
	s.must(json.Unmarshal(fields["messages"], &all))
	delete(fields, "messages")
	rest, err := json.Marshal(fields)
	s.must(err)
	lines = append(lines, "head "+brief(string(rest)))
	same := 0
	for _, raw := range all {
		messages = append(messages, string(raw))
	}
	for same < len(before) && same < len(messages) && before[same] == messages[same] {
		same++
	}
	lines = append(lines, fmt.Sprintf("as before up to message %d, then", same))
	for _, m := range messages[same:] {
		lines = append(lines, brief(m))
	}
	return lines, messages
}
