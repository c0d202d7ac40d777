package picker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"

	"cairn/harness"
	"cairn/ui/render"
)

func TestGoldenMenus(t *testing.T) {
	t.Parallel()
	export := func(c *Config) {
		c.Export = func(context.Context, harness.SessionID, string) (string, error) { return "", nil }
	}
	for _, size := range sizes {
		w, h := size[0], size[1]
		t.Run(fmt.Sprintf("%dx%d", w, h), func(t *testing.T) {
			t.Parallel()
			open(t, sample(), w, h, export).keys("down", "tab", "down", "down").golden("menu")
			open(t, sample(), w, h).keys("tab").golden("menu-open-here")
			s := open(t, sample(), w, h, export).keys("down", "ctrl+d", "down", "ctrl+d", "ctrl+a")
			s.golden("trash")
			s.keys("tab").golden("menu-trash")
			open(t, sample(), w, h, export).keys("down", "tab", "e").golden("export")
		})
	}
}

func TestTheMenuActsByLettersAndByArrows(t *testing.T) {
	t.Parallel()
	f := sample()
	s := open(t, f, 80, 24).keys("down", "tab", "p")
	if !f.sessions[f.find("vat")].Pinned {
		t.Error("p does not pin")
	}
	s.keys("tab").shows("unpin").keys("down", "down", "down", "enter")
	if f.sessions[f.find("vat")].Pinned {
		t.Error("enter on the fourth does not unpin")
	}
	s.keys("tab", "t", " eu", "enter")
	if got := f.sessions[f.find("vat")].Tags; !slices.Equal(got, []string{"billing", "eu"}) {
		t.Errorf("tags are %q", got)
	}
	s.keys("tab", "r", "!", "enter").shows("VAT edge cases!")
	if s.keys("tab", "o"); s.last != (Open{Session: "vat"}) {
		t.Errorf("o gives %#v", s.last)
	}
	s = open(t, f, 80, 24).keys("down", "tab", "d").shows("Deleted.")
	if f.find("vat") >= 0 {
		t.Error("d does not delete")
	}
	s.keys("ctrl+u").selectedIs("vat")
	for _, key := range []string{"tab", "esc"} {
		if s.keys("tab", key); s.menu.open || s.last != nil {
			t.Errorf("%s does not close the menu", key)
		}
	}
	if s.keys("tab", "z"); !s.menu.open || s.filter.Text() != "" {
		t.Error("a letter of no action closes the menu, or is typed")
	}
}

func TestTheIDIsCopied(t *testing.T) {
	t.Parallel()
	f := sample()
	s := open(t, f, 80, 24).keys("down", "tab", "c")
	if s.last != (Copy{Text: "vat"}) {
		t.Errorf("c gives %#v", s.last)
	}
	s.shows("The id vat was sent")
	lists := f.lists
	s.send(Changed{})
	if s.settle(); f.lists == lists {
		t.Error("the list is no longer live")
	}
}

func TestAForkIsMadeAtTheEndAndOpened(t *testing.T) {
	t.Parallel()
	f := sample()
	s := open(t, f, 80, 24).keys("tab").shows("fork at its end").keys("f")
	if s.last != (Open{Session: "forked"}) {
		t.Errorf("f gives %#v", s.last)
	}
	if p := f.sessions[f.find("forked")].Parent; *p != (harness.Origin{Session: "q3", Record: 44}) {
		t.Errorf("the fork is of %+v", *p)
	}
	f.fail = harness.ErrLocked
	s = open(t, f, 80, 24).keys("tab", "f").shows("the store is in use")
	if s.last != nil {
		t.Errorf("a fork that failed gives %#v", s.last)
	}
	s.send(keyMsg("tab"))
	s.send(keyMsg("f"))
	s.send(keyMsg("esc"))
	if s.settle(); s.last != (Back{}) {
		t.Errorf("a fork that is made after the screen was left gives %#v", s.last)
	}
}

func TestAFoundMessageIsForkedWhereItIs(t *testing.T) {
	t.Parallel()
	f := sample()
	f.hits = []harness.Hit{{Session: "trip", Message: 4, Excerpt: "blank zebra id"}}
	s := open(t, f, 80, 24, func(c *Config) { c.Search = f }).keys("z", "e", "tab")
	s.shows("open at this message", "fork at this message", "this is a message; choose its session")
	if s.keys("f"); s.last != (Open{Session: "forked"}) {
		t.Errorf("f gives %#v", s.last)
	}
	if p := f.sessions[f.find("forked")].Parent; *p != (harness.Origin{Session: "trip", Record: 4}) {
		t.Errorf("the fork is of %+v", *p)
	}
}

func TestExportAsksForAFileAndSaysWhereItIs(t *testing.T) {
	t.Parallel()
	var got []string
	fail := error(nil)
	s := open(t, sample(), 80, 24, func(c *Config) {
		c.Export = func(_ context.Context, id harness.SessionID, to string) (string, error) {
			got = append(got, string(id)+" "+to)
			return "/home/" + to, fail
		}
	}).keys("down", "tab", "e").shows("export to: vat.md")
	fail = fs.ErrExist
	s.keys("enter").shows("file already exists", "export to: vat.md")
	fail = nil
	s.keys("ctrl+u", "enter").shows("A file name needs")
	s.keys("v.jsonl", "enter").shows("Exported to /home/v.jsonl", "VAT edge cases")
	if want := []string{"vat vat.md", "vat v.jsonl"}; !slices.Equal(got, want) {
		t.Errorf("exported %q, want %q", got, want)
	}
	open(t, sample(), 80, 24).keys("down", "tab", "e").shows("This start exports nothing.")
}

func TestAnExportIntoAMissingDirectorySaysWhatToDo(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{
		"notes/sub/": `"notes/sub" is no directory; make it, or type another file`,
		"no/v.md":    `"no" is no directory; make it, or type another file`,
		"/" + strings.Repeat("deep/", 40) + "v.md": `…" is no directory; make it, or type another file`,
	} {
		s := open(t, sample(), 80, 24, func(c *Config) {
			c.Export = func(context.Context, harness.SessionID, string) (string, error) {
				return "", fmt.Errorf("export to %s: %w", to, syscall.ENOENT)
			}
		}).keys("down", "tab", "e", "ctrl+u")
		s.keys(to, "enter").shows(want, "export to: ").lacks("session vat", "no such file")
	}
	s := open(t, sample(), 80, 24, func(c *Config) {
		c.Export = func(context.Context, harness.SessionID, string) (string, error) {
			return "", errors.New("export to /x: no space left on device")
		}
	}).keys("down", "tab", "e", "enter")
	s.shows("export to /x: no space left on device").lacks("export session")
}

func TestMemoryIsTurnedOffAndOnWhereNoWindowHasTheChat(t *testing.T) {
	t.Parallel()
	f := sample()
	s := open(t, f, 120, 40).keys("down", "tab", "m").shows("memory off")
	if !f.sessions[f.find("vat")].NoMemory {
		t.Error("memory is still on")
	}
	s.keys("tab").shows("turn its memory on").keys("m").lacks("memory off")
	for title, why := range map[string]string{
		"Q3": "open here, so type /memory off in it", "Trip": "open elsewhere, so type /memory off there",
	} {
		s := open(t, f, 80, 24).keys(strings.Split(title, "")...).keys("tab").shows("m  turn its memory off: " + why)
		s.keys("m").shows("O" + why[1:] + ".")
	}
	f.sessions[f.find("q3")].NoMemory = true
	open(t, f, 80, 24).keys("tab").shows("m  turn its memory on: open here, so type /memory on in it")
}

func TestMenuAndEntryCloseWhenTheirRowGoes(t *testing.T) {
	t.Parallel()
	for _, keys := range [][]string{{"tab"}, {"tab", "t"}, {"ctrl+r", "x"}} {
		f := sample()
		s := open(t, f, 80, 24).keys("down").keys(keys...)
		f.sessions = slices.Delete(f.sessions, f.find("vat"), f.find("vat")+1)
		s.send(Changed{})
		s.settle()
		s.shows("deleted elsewhere")
		if s.menu.open || s.entry.id != "" {
			t.Errorf("after %v it is still open", keys)
		}
		f = sample()
		s = open(t, f, 80, 24).keys("e", "d", "g", "e").keys(keys...)
		f.sessions[f.find("vat")].Title = "Renamed"
		s.send(Changed{})
		s.settle()
		s.shows("no longer in this list")
	}
}

func TestEveryStateNamesItsKeys(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, b := range Actions() {
		known[b.Action] = true
	}
	f := sample()
	f.hits = []harness.Hit{{Session: "trip", Message: 4, Excerpt: "zebra"}}
	for _, keys := range [][]string{{}, {"tab"}, {"ctrl+r"}, {"ctrl+a"}, {"right"}, {"z"}, {"down", "ctrl+d"}, {"ctrl+a", "tab"}} {
		s := open(t, f, 80, 24, func(c *Config) { c.Search = f }).keys(keys...)
		for _, b := range s.Bindings() {
			if !known[b.Action] {
				t.Errorf("after %v there is %s, which Actions does not name", keys, b.Action)
			}
		}
	}
}

func TestLettersOfTheMenuCanBeReplaced(t *testing.T) {
	t.Parallel()
	f := sample()
	s := open(t, f, 80, 24, func(c *Config) {
		c.Keys = map[string][]string{"picker.menu-pin": {"x"}, "picker.menu-copy-id": {}, "picker.fork": {"ctrl+y"}}
	}).keys("down", "tab")
	if s.keys("p"); f.sessions[f.find("vat")].Pinned {
		t.Error("p still pins")
	}
	if s.keys("x"); !f.sessions[f.find("vat")].Pinned {
		t.Error("x does not pin")
	}
	if s.keys("tab", "c"); s.last != nil {
		t.Errorf("c gives %#v", s.last)
	}
	if s.keys("esc", "ctrl+y"); s.last != (Open{Session: "forked"}) {
		t.Errorf("ctrl+y gives %#v", s.last)
	}
}

func TestNoActionIsOffWithoutAReason(t *testing.T) {
	t.Parallel()
	s := open(t, &store{}, 80, 24)
	for _, b := range s.Bindings() {
		if slices.Contains([]string{"picker.rename", "picker.fork", "picker.export", "picker.delete", "picker.actions"}, b.Action) && b.Off == "" {
			t.Errorf("%s works on nothing", b.Action)
		}
	}
	s.keys("tab").shows("No session is selected.")
	if _, off := render.Match(s.Bindings(), "ctrl+t"); off != "" {
		t.Errorf("an empty list cannot be sorted: %s", off)
	}
}
