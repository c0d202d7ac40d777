package attach

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
)

// shelf is some files in memory, by path.
type shelf map[string]Seen

func (s shelf) files() Files {
	return Files{
		Look: func(_ context.Context, p string) (Seen, error) {
			seen, ok := s[p]
			if !ok {
				return Seen{}, fmt.Errorf("look at %s: %w", p, fs.ErrNotExist)
			}
			if seen.File.Size == 0 {
				return Seen{}, errors.New(p + " is empty")
			}
			return seen, nil
		},
		Read: func(_ context.Context, p string) (harness.Part, error) {
			seen := s[p]
			if seen.Text {
				return harness.Part{Kind: harness.PartText, Text: "text of " + p}, nil
			}
			f := seen.File
			f.Data = []byte(p)
			return harness.Part{Kind: harness.PartFile, File: &f}, nil
		},
		List: func(ctx context.Context, dir string, deep bool) ([]string, bool, error) {
			var paths []string
			for p := range s {
				if rest, ok := strings.CutPrefix(p, dir); ok && (deep || !strings.Contains(rest, "/")) {
					paths = append(paths, rest)
				}
			}
			slices.Sort(paths)
			return paths, false, ctx.Err()
		},
	}
}

func text(name string, size int64) Seen {
	return Seen{File: harness.File{Name: name, MediaType: "text/plain", Size: size}, Text: true}
}

func image(name string, size int64) Seen {
	return Seen{File: harness.File{Name: name, MediaType: "image/png", Size: size, Width: 4, Height: 3}}
}

// typed is a tray that was told of a text that ends at the caret, and the works
// that came of it.
func (t Tray) typed(s string) (Tray, []Work) {
	return t.Typed(Input{Text: func() string { return s }, Line: s, Any: strings.Contains(s, "@"), Changed: true, Typed: true})
}

// done does works and all that follows from them.
func (t Tray) done(works []Work) Tray {
	for len(works) > 0 {
		done := works[0]()
		var next []Work
		t, next = done(t)
		works = append(works[1:len(works):len(works)], next...)
	}
	return t
}

func rows(t Tray) string { return strings.Join(t.list.rows, " ") }

func TestTheListIsThatOfWhatIsTypedNow(t *testing.T) {
	t.Parallel()
	s := shelf{"main.go": text("main.go", 9), "mail.go": text("mail.go", 9), "dir/main.go": text("main.go", 9), ".env": text(".env", 1)}
	tray, listing := NewTray(t.Context(), s.files()).typed("@")
	if tray.Open() {
		t.Fatal("a list is open before there is one")
	}
	// While it is made the person types on: it is neither made twice nor out of date.
	tray, more := tray.typed("@mai")
	tray, more2 := tray.typed("@main")
	if more != nil || more2 != nil || len(listing) != 3 { // two listings and the look at what is mentioned
		t.Fatalf("%d, %d and %d works", len(listing), len(more), len(more2))
	}
	if tray = tray.done(listing[:1]); rows(tray) != "main.go" {
		t.Fatalf("in the directory are %q", rows(tray))
	}
	tray = tray.done(listing[1:])
	if got := rows(tray); got != "main.go dir/main.go" || !tray.Open() {
		t.Fatalf("listed are %q", got)
	}
	// Of two rankings that are under way the later one counts, whichever is done first.
	tray, first := tray.typed("@mai")
	tray, second := tray.typed("@mail")
	tray = tray.done(append(second, first...))
	if got := rows(tray); got != "mail.go" {
		t.Fatalf("listed are %q", got)
	}
	tray, works := tray.typed("@.e")
	if tray = tray.done(works); rows(tray) != ".env" {
		t.Errorf("listed are %q", rows(tray))
	}
	tray, works = tray.typed("@.e and")
	if tray = tray.done(works); tray.Open() {
		t.Error("the list is open behind the mention")
	}
}

func TestWhatIsChosenStaysWhenMoreIsListed(t *testing.T) {
	t.Parallel()
	s := shelf{"a.go": text("a.go", 1), "b.go": text("b.go", 1), "a/x.go": text("x.go", 1)}
	tray, works := NewTray(t.Context(), s.files()).typed("@")
	tray = tray.done(works[:1])
	tray, _, _ = tray.Do(actDown)
	tray = tray.done(works[1:])
	if _, choice, _ := tray.Do(actChoose); len(tray.list.rows) != 3 || choice == nil || choice.Text != "@b.go " {
		t.Errorf("of %q is chosen %+v", rows(tray), choice)
	}
	// The directory alone comes too late once all of it is there.
	tray, works = tray.close().typed("@")
	if tray = tray.done([]Work{works[1], works[0]}); len(tray.list.rows) != 3 {
		t.Errorf("listed are %q", rows(tray))
	}
}

// What no mention can name is not offered: choosing it would do nothing.
func TestOnlyWhatCanBeMentionedIsListed(t *testing.T) {
	t.Parallel()
	s := shelf{"a b.go": text("a b.go", 1), "a\nb.go": text("b", 1), "a\x1b[2J": text("c", 1), "a\xff": text("d", 1), "sub/a\tb": text("e", 1)}
	tray, works := NewTray(t.Context(), s.files()).typed("@a")
	if tray = tray.done(works); rows(tray) != "a b.go" {
		t.Errorf("listed are %q", tray.list.rows)
	}
}

func TestTheNextKeyEndsARanking(t *testing.T) {
	t.Parallel()
	many := make([]string, 50_000)
	for i := range many {
		many[i] = fmt.Sprintf("dir%d/file%d.go", i%100, i)
	}
	ctx, stop := context.WithCancel(t.Context())
	if got := ranked(ctx, many, "file49999"); len(got) != 1 || got[0] != "dir99/file49999.go" {
		t.Fatalf("found %q", got)
	}
	stop()
	if got := ranked(ctx, many, "file49999"); got != nil {
		t.Errorf("after the next key it found %q", got)
	}
}

func TestChoosingIsByWhatIsTypedNotByWhatIsShown(t *testing.T) {
	t.Parallel()
	s := shelf{"a.go": text("a.go", 1), "b.go": text("b.go", 1)}
	tray, works := NewTray(t.Context(), s.files()).typed("@")
	tray = tray.done(works)
	tray, _ = tray.typed("@b") // not ranked yet
	_, choice, ok := tray.Do(actChoose)
	if !ok || choice == nil || choice.Text != "@b.go " || choice.Back != 2 {
		t.Errorf("chosen is %+v (%v)", choice, ok)
	}
	tray, _ = tray.typed("@bc")
	if _, choice, ok := tray.Do(actChoose); ok || choice != nil {
		t.Errorf("chosen is %+v", choice)
	}
}

func TestRanking(t *testing.T) {
	t.Parallel()
	paths := []string{"ui/", "ui/chat/", "README.md", "main.go", "ui/chat/chat.go", "ui/chat/attach/list.go", "harness/chat_test.go", ".git/", "Straße.txt"}
	for query, want := range map[string]string{
		"":        "ui/ main.go README.md Straße.txt ui/chat/ harness/chat_test.go",
		"chat":    "ui/chat/ harness/chat_test.go ui/chat/chat.go",
		"read":    "README.md",
		"ucl":     "ui/chat/attach/list.go",
		"strasse": "Straße.txt",
		".g":      ".git/",
		"zzz":     "",
	} {
		got := strings.Join(ranked(t.Context(), paths, query), " ")
		if got != want && !strings.HasPrefix(got, want+" ") {
			t.Errorf("%q finds %q, not %q", query, got, want)
		}
	}
}

func TestWhatIsSentWithAMessage(t *testing.T) {
	t.Parallel()
	s := shelf{"a.txt": text("a.txt", 5), "cat.png": image("cat.png", 7), "void": text("void", 0)}
	f := s.files()
	f.Accepts = func(model, media string) error {
		if model == "x/blind" {
			return errors.New("x/blind reads no images")
		}
		return nil
	}
	kinds := func(msg harness.Message) (out []harness.PartKind) {
		for _, p := range msg.Parts {
			out = append(out, p.Kind)
		}
		return out
	}
	msg, notes, err := f.Message(t.Context(), "see @a.txt, @cat.png, @a.txt and @nobody", "x/y", nil, nil)
	if err != nil || notes != nil || !slices.Equal(kinds(msg), []harness.PartKind{"text", "text", "file"}) || msg.Text() != "see @a.txt, @cat.png, @a.txt and @nobody" {
		t.Errorf("sent %+v, %q, %v", msg, notes, err)
	}
	if msg.Parts[1].File == nil || msg.Parts[1].File.Name != "a.txt" {
		t.Errorf("the text of the file is told as words of the person: %+v", msg.Parts[1])
	}
	for _, c := range []struct{ text, model, why string }{
		{"@void", "x/y", "not sent: void is empty; without its @ it is only text"},
		{"@cat.png", "x/blind", "not sent: cat.png: x/blind reads no images; without its @ it is only text"},
	} {
		var refused *RefusedError
		if _, _, err := f.Message(t.Context(), c.text, c.model, nil, nil); !errors.As(err, &refused) || err.Error() != c.why {
			t.Errorf("%s to %s: %v", c.text, c.model, err)
		}
	}
	seen := map[string]Seen{"a.txt": text("a.txt", 4), "gone.txt": text("gone.txt", 4)}
	if _, notes, err := f.Message(t.Context(), "@a.txt", "x/y", nil, seen); err != nil || len(notes) != 1 || !strings.Contains(notes[0], "changed since you attached it") {
		t.Errorf("told %q, %v", notes, err)
	}
	if _, _, err := f.Message(t.Context(), "@gone.txt", "x/y", nil, seen); err == nil || !strings.HasPrefix(err.Error(), "not sent: @gone.txt is not there any more") {
		t.Errorf("a file that vanished: %v", err)
	}
	many := ""
	for i := range filesMax + 3 {
		name := fmt.Sprintf("f%d.txt", i)
		s[name] = text(name, 1)
		many += "@" + name + " "
	}
	if msg, notes, err := f.Message(t.Context(), many, "x/y", nil, nil); err != nil || len(msg.Parts) != 1+filesMax || len(notes) != 1 {
		t.Errorf("of many %d parts, %q, %v", len(msg.Parts), notes, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	f.Read = func(ctx context.Context, _ string) (harness.Part, error) { return harness.Part{}, ctx.Err() }
	if _, _, err := f.Message(ctx, "@a.txt", "x/y", nil, nil); !errors.Is(err, context.Canceled) || errors.As(err, new(*RefusedError)) {
		t.Errorf("ended: %v", err)
	}
	if msg, _, err := (Files{}).Message(t.Context(), "@a.txt", "x/y", nil, nil); err != nil || len(msg.Parts) != 1 {
		t.Errorf("without files sent %+v, %v", msg, err)
	}
}

func TestPastedPathsAreNamedFromTheWorkingDirectory(t *testing.T) {
	t.Parallel()
	s := shelf{"docs/a b.txt": text("a b.txt", 5), "/home/ada/docs/a b.txt": text("a b.txt", 5), "/other/c.txt": text("c.txt", 5)}
	tray := NewTray(t.Context(), s.files())
	for paste, want := range map[string]string{
		"/home/ada/docs/a b.txt":                   `@"docs/a b.txt" `,
		"'/home/ada/docs/a b.txt' /other/c.txt":    `@"docs/a b.txt" @/other/c.txt `,
		"/other/c.txt /other/missing.txt":          "",
		"/home/ada/":                               "",
		"/other/c.txt and what else there is":      "",
		"file:///home/ada/docs/a%20b.txt":          `@"docs/a b.txt" `,
		"/home/adam/docs/a.txt":                    "",
		"/home/ada/docs/a b.txt\r\n/other/c.txt\n": `@"docs/a b.txt" @/other/c.txt `,
	} {
		got := ""
		if look := tray.Pasted(paste, "/home/ada", func(text string) { got = text }); look != nil {
			look()
		}
		if got != want {
			t.Errorf("%q became %q, not %q", paste, got, want)
		}
	}
}

func TestTheLineOfAttachmentsFits(t *testing.T) {
	t.Parallel()
	theme, err := themes.Load("", true, themes.Options{Profile: themes.TrueColor})
	if err != nil {
		t.Fatal(err)
	}
	s := shelf{"a.txt": text("a.txt", 5), "cat\u202e.png": image("cat\u202e.png", 7_000), "void": text("void", 0)}
	tray, works := NewTray(t.Context(), s.files()).typed("@a.txt @cat\u202e.png @void ")
	tray = tray.done(works)
	for width := range 130 {
		line := tray.Line(theme, width)
		if w := render.Width(line); w > width || strings.Contains(line, "\u202e") {
			t.Fatalf("on %d cells it is %d wide: %q", width, w, line)
		}
	}
	if line := tray.Line(theme, 130); !strings.Contains(line, "void is empty") || !strings.Contains(line, "image cat") || !strings.Contains(line, "text a.txt 5 B") {
		t.Errorf("the line is %q", line)
	}
	if m, ok := tray.Last("x @a.txt y"); !ok || m.Path != "a.txt" || m.From != 2 || m.To != 8 {
		t.Errorf("the last is %+v (%v)", m, ok)
	}
	tray, works = tray.typed("")
	if tray = tray.done(works); tray.Any() || tray.Line(theme, 80) != "" {
		t.Error("an empty text has attachments")
	}
}

func TestAFileIsLookedAtOnceWhileAMessageIsWritten(t *testing.T) {
	t.Parallel()
	f := shelf{"a.txt": text("a.txt", 5), "void": text("void", 0)}.files()
	look, looks := f.Look, map[string]int{}
	f.Look = func(ctx context.Context, p string) (Seen, error) {
		looks[p]++
		return look(ctx, p)
	}
	tray := NewTray(t.Context(), f)
	for _, s := range []string{"@a.txt ", "@a.txt @void ", "@a.txt @void and", "@a.txt @void and more"} {
		next, works := tray.typed(s)
		tray = next.done(works)
	}
	if looks["a.txt"] != 1 || looks["void"] != 1 {
		t.Errorf("looked %v times", looks)
	}
	tray, works := tray.typed("")
	tray, works = tray.done(works).typed("@void ")
	if tray = tray.done(works); looks["void"] != 2 || !tray.Any() {
		t.Errorf("looked %v times", looks)
	}
}

func TestWhatBecameOfTheFilesOfADraft(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	newer, older := text("new.txt", 1), text("old.txt", 1)
	newer.Modified, older.Modified = at.Add(time.Minute), at.Add(-time.Minute)
	f := shelf{"new.txt": newer, "old.txt": older}.files()
	got := f.Since(t.Context(), "@new.txt @old.txt @gone.txt @someone @dir/x", at)
	want := []string{"@new.txt changed since you wrote this", "@gone.txt is no file now: it would be sent as text only", "@dir/x is no file now: it would be sent as text only"}
	if !slices.Equal(got, want) {
		t.Errorf("told %q", got)
	}
	if got := f.Since(t.Context(), "@gone.txt", time.Time{}); got != nil {
		t.Errorf("of no time told %q", got)
	}
}

func BenchmarkRanking(b *testing.B) {
	many := make([]string, 100_000)
	for i := range many {
		many[i] = fmt.Sprintf("package%d/internal/file_%d_test.go", i%1000, i)
	}
	for b.Loop() {
		ranked(b.Context(), many, "file99")
	}
}

func BenchmarkTyping(b *testing.B) {
	s := shelf{"main.go": text("main.go", 9)}
	tray, works := NewTray(b.Context(), s.files()).typed("@")
	tray = tray.done(works)
	tray.list.paths = make([]string, 100_000)
	line := strings.Repeat("word ", 200) + "@ma"
	in := Input{Text: func() string { return line }, Line: line, Any: true, Changed: true, Typed: true}
	for b.Loop() {
		tray.Typed(in)
	}
}
