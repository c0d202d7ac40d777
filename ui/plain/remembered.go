package plain

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cairn/harness"
	"cairn/ui/render"
	"cairn/ui/widget"
)

const keptHelp = "a number shows it whole; a number and a word does more: edit [TEXT], history, forget, pin, unpin, off, on, tag WORDS. " +
	"find WORDS looks for others, trash lists what was forgotten, undo brings back what was forgotten last, ? says this again, an empty line goes back"

// thing is a fact or a note as it is listed.
type thing struct {
	id       string
	text     string // of a fact, the body of a note
	title    string // of a note
	about    []string
	source   harness.Source
	revision int
	when     string
	pinned   bool
}

// keeper is the list of facts or notes while it is asked about.
type keeper struct {
	*plain
	notes  bool
	list   list
	filter harness.MemoryFilter
	found  []thing
	gone   []string
}

// listKept lists the facts or the notes that have the words, and asks what to do.
func (p *plain) listKept(notes bool, words string) {
	k := &keeper{plain: p, notes: notes, filter: harness.MemoryFilter{Query: words, State: harness.StateAny}}
	if p.Chat.Facts == nil && !notes || p.Chat.Notes == nil && notes {
		p.say("memory is off in all chats of this start")
		return
	}
	if k.read() {
		p.menu(k.name(), len(k.found), keptHelp, k.do)
	}
}

func (k *keeper) name() string {
	if k.notes {
		return "notes"
	}
	return "facts"
}

func (k *keeper) ofFact(f harness.Fact) thing {
	t := thing{id: f.ID, text: f.Text, source: f.Source, revision: f.Revision, pinned: f.Pinned, about: []string{f.Category}}
	return k.described(t, f.State, f.By, f.Tags, f.Updated.In(k.Chat.Now().Location()).Format("2006-01-02"))
}

func (k *keeper) ofNote(n harness.Note) thing {
	t := thing{id: n.ID, text: n.Body, title: n.Title, source: n.Source, revision: n.Revision, pinned: n.Pinned}
	return k.described(t, n.State, n.By, n.Tags, n.Updated.In(k.Chat.Now().Location()).Format("2006-01-02"))
}

// described is a thing with what there is to say about it.
func (k *keeper) described(t thing, state harness.FactState, by harness.By, tags []string, when string) thing {
	t.when = when
	if t.pinned {
		t.about = append(t.about, "pinned")
	}
	if state != harness.StateActive {
		t.about = append(t.about, string(state))
	}
	if len(tags) > 0 {
		t.about = append(t.about, "tags "+widget.Hashed(tags))
	}
	t.about = slices.DeleteFunc(append(t.about, "by "+string(by)), func(s string) bool { return s == "" })
	return t
}

// read reads the list and writes its beginning.
func (k *keeper) read() bool {
	k.found, k.list = nil, list{p: k.plain}
	var err error
	if k.notes {
		var all []harness.Note
		all, err = k.Chat.Notes.List(k.ctx, k.filter)
		for _, n := range all {
			k.found = append(k.found, k.ofNote(n))
		}
	} else {
		var all []harness.Fact
		all, err = k.Chat.Facts.List(k.ctx, k.filter)
		for _, f := range all {
			k.found = append(k.found, k.ofFact(f))
		}
	}
	if err != nil {
		k.trouble(fmt.Errorf("list the %s: %w", k.name(), err))
		return false
	}
	what := strings.TrimSuffix(k.name(), "s")
	if k.filter.State == harness.StateTrashed {
		what = "forgotten " + what
	}
	words := harness.Count(len(k.found), what)
	if k.filter.Query != "" {
		words += fmt.Sprintf(" with %q", k.filter.Query)
	}
	k.say(words)
	if len(k.found) > 0 {
		k.list.more(len(k.found), k.describe)
	}
	return true
}

// describe is a fact or note on a line.
func (k *keeper) describe(i int) string {
	t := k.found[i]
	return render.SafeLine(fmt.Sprintf("%s: %s (%s)", t.id, cmp.Or(t.title, t.text), strings.Join(t.about, ", ")))
}

// do does what was typed at the list.
func (k *keeper) do(w wish) (done bool) {
	if w.n == 0 {
		k.whole(w)
		return false
	}
	i, ok := k.meantOf(w, len(k.found))
	if !ok {
		return false
	}
	t := k.found[i]
	on, off, tags := true, false, strings.Fields(strings.ReplaceAll(w.rest, "#", " "))
	switch w.word {
	case "", "show":
		k.show(t)
	case "edit":
		k.rewrite(i, w.rest)
	case "history":
		k.history(i)
	case "forget", "delete":
		k.drop(i)
	case "restore":
		k.restore(t.id)
	case "pin":
		k.change(i, revised{pinned: &on}, "goes into every request")
	case "unpin":
		k.change(i, revised{pinned: &off}, "is not pinned any more")
	case "on", "off":
		state := map[string]harness.FactState{"on": harness.StateActive, "off": harness.StateOff}[w.word]
		k.change(i, revised{state: &state}, map[string]string{"on": "is recalled", "off": "is kept and not recalled"}[w.word])
	case "tag", "tags":
		k.change(i, revised{tags: &tags}, "has the tags "+widget.Hashed(tags))
	default:
		k.unknown(w)
	}
	return false
}

// whole does what was typed at the list about no line of it.
func (k *keeper) whole(w wish) {
	switch w.word {
	case "more":
		k.list.more(len(k.found), k.describe)
	case "find":
		k.filter.Query = w.rest
		k.read()
	case "trash", "all":
		k.filter = harness.MemoryFilter{State: map[string]harness.FactState{"trash": harness.StateTrashed, "all": harness.StateAny}[w.word]}
		if k.read() && w.word == "trash" {
			k.say("a number and restore brings one back; all lists the others again")
		}
	case "undo":
		if len(k.gone) == 0 {
			k.say("nothing was forgotten here; trash lists what was forgotten before")
			return
		}
		id := k.gone[len(k.gone)-1]
		k.gone = k.gone[:len(k.gone)-1]
		k.restore(id)
	default:
		k.unknown(w)
	}
}

// show writes all of a fact or note.
func (k *keeper) show(t thing) {
	if t.title != "" {
		k.out.speak(t.id+", "+render.SafeLine(t.title), t.text)
	} else {
		k.out.block(t.id, t.text)
	}
	k.say(fmt.Sprintf("version %d of %s; %s", t.revision, t.when, strings.Join(t.about, ", ")))
	k.say(sourceLine(t.source))
}

// revised is what is to change of a fact or note; nil stays.
type revised struct {
	text, title *string
	tags        *[]string
	pinned      *bool
	state       *harness.FactState
}

// change changes what is on a line, and says what came of it.
func (k *keeper) change(i int, r revised, said string) bool {
	t, err := k.revise(k.found[i].id, r)
	if err != nil {
		k.trouble(err)
		return false
	}
	k.found[i] = t
	k.say(t.id + " " + said)
	return true
}

// revise makes the next version of a fact or note.
func (k *keeper) revise(id string, r revised) (thing, error) {
	if k.notes {
		n, err := k.Chat.Notes.Edit(k.ctx, id, harness.NoteEdit{Title: r.title, Body: r.text, Tags: r.tags, Pinned: r.pinned, State: r.state})
		if err != nil {
			return thing{}, fmt.Errorf("edit note %s: %w", id, err)
		}
		return k.ofNote(n), nil
	}
	f, err := k.Chat.Facts.Edit(k.ctx, id, harness.FactEdit{Text: r.text, Tags: r.tags, Pinned: r.pinned, State: r.state})
	if err != nil {
		return thing{}, fmt.Errorf("edit fact %s: %w", id, err)
	}
	return k.ofFact(f), nil
}

// rewrite changes what a fact or note says: to what was typed, or to what the
// person's editor or the next lines say.
func (k *keeper) rewrite(i int, text string) {
	t := k.found[i]
	if text == "" {
		var ok bool
		if text, ok = k.compose(t); !ok {
			k.say("nothing was changed")
			return
		}
	}
	if strings.TrimSpace(text) == "" || text == t.text {
		k.say("nothing was changed")
		return
	}
	if !k.change(i, revised{text: &text}, "is changed; history shows how it was") {
		k.say("what you wrote is not stored:")
		k.out.line(render.Safe(text))
	}
}

// compose has a new text written, in the editor where there is one.
func (k *keeper) compose(t thing) (text string, ok bool) {
	if k.Editor != nil {
		text, err := k.Editor(k.ctx, t.text, t.id+".md")
		if err != nil {
			k.trouble(err)
			return "", false
		}
		return strings.TrimRight(text, "\n"), true
	}
	k.say(t.id + " says:")
	k.out.line(render.Safe(t.text))
	k.say("type what it is to say instead; a backslash at the end of a line goes on in the next; an empty line leaves it")
	text, ok = k.ask()
	return text, ok && strings.TrimSpace(text) != ""
}

// drop forgets what is on a line, which can be taken back.
func (k *keeper) drop(i int) {
	id, forget := k.found[i].id, k.Chat.Facts.Forget
	if k.notes {
		forget = k.Chat.Notes.Forget
	}
	if err := forget(k.ctx, id); err != nil && !errors.Is(err, harness.ErrNotFound) {
		k.trouble(fmt.Errorf("forget %s: %w", id, err))
		return
	}
	k.gone = append(k.gone, id)
	k.say("forgot " + id + "; undo brings it back (kept 30 days)")
	k.read()
}

// restore brings a fact or note back.
func (k *keeper) restore(id string) {
	said := id
	var err error
	if k.notes {
		_, err = k.Chat.Notes.Restore(k.ctx, id)
	} else {
		var f harness.Fact
		if f, err = k.Chat.Facts.Restore(k.ctx, id); f.ID != id && err == nil {
			said = id + " stays forgotten: " + f.ID + " says the same, and it"
		}
	}
	if err != nil {
		k.trouble(fmt.Errorf("restore %s: %w", id, err))
		return
	}
	k.say(said + " is there")
	k.filter = harness.MemoryFilter{State: harness.StateAny}
	k.read()
}
