package plain

import (
	"errors"
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/ui/chat"
	"cairn/ui/render"
	"cairn/ui/widget"
)

const (
	sessionsHelp = "a number opens; a number and a word does more: show, rename TITLE, pin, unpin, tag WORDS, fork, export FILE, delete. " +
		"find WORDS looks for others, trash lists what was deleted, undo takes back what was deleted last, ? says this again, an empty line goes back"
	trashHelp = "a number brings back; find WORDS looks for others, all lists the sessions, ? says this again, an empty line goes back"
	// peekRecords is how many records are shown of a session that is not opened.
	peekRecords = 6
)

// picker is the list of sessions while it is asked about.
type picker struct {
	*plain
	list   list
	filter harness.SessionFilter
	found  []harness.Session
	gone   []harness.Session // deleted here, the last one last
}

// sessions lists the sessions that have the words, and asks what to do.
func (p *plain) sessions(words string) {
	if p.Sessions == nil {
		p.say("list them with: cairn sessions; open one with: cairn -s ID")
		return
	}
	k := &picker{plain: p, filter: harness.SessionFilter{Query: words}}
	if !k.read() {
		return
	}
	p.menu("sessions", len(k.found), sessionsHelp, k.do)
}

// read reads the list and writes its beginning.
func (k *picker) read() bool {
	found, err := k.Sessions.List(k.ctx, k.filter)
	if err != nil {
		k.trouble(fmt.Errorf("list the sessions: %w", err))
		return false
	}
	k.found, k.list = found, list{p: k.plain}
	what := "session"
	if k.filter.Deleted {
		what = "deleted session"
	}
	words := harness.Count(len(found), what)
	if k.filter.Query != "" {
		words += " with " + fmt.Sprintf("%q", k.filter.Query)
	}
	k.say(words)
	if len(found) > 0 {
		k.list.more(len(found), k.describe)
	}
	return true
}

// describe is a session on a line.
func (k *picker) describe(i int) string {
	s := k.found[i]
	parts := []string{title(s), string(s.ID), harness.Count(s.Messages+s.Inherited, "message"), s.Updated.In(k.Chat.Now().Location()).Format("2006-01-02 15:04")}
	if s.Pinned {
		parts = append(parts, "pinned")
	}
	if len(s.Tags) > 0 {
		parts = append(parts, "tags "+widget.Hashed(s.Tags))
	}
	if s.OpenRun != "" {
		parts = append(parts, "an answer is unfinished")
	}
	if s.HasDraft {
		parts = append(parts, "unsent text")
	}
	switch {
	case s.ID == k.session.ID:
		parts = append(parts, "open here")
	case s.Owner != nil:
		parts = append(parts, "open in "+s.Owner.String())
	}
	return render.SafeLine(strings.Join(parts, ", "))
}

// do does what was typed at the list.
func (k *picker) do(w wish) (done bool) {
	if w.n == 0 {
		return k.whole(w)
	}
	i, ok := k.meantOf(w, len(k.found))
	if !ok {
		return false
	}
	s := k.found[i]
	if k.filter.Deleted {
		k.restore(s)
		return false
	}
	switch w.word {
	case "", "open":
		if s.ID == k.session.ID {
			k.say("this session is open here already")
			return true
		}
		k.change(s)
		return true
	case "show", "preview":
		k.peek(s)
	case "rename":
		k.retitle(i, w.rest)
	case "pin", "unpin":
		on := w.word == "pin"
		k.edit(i, harness.SessionEdit{Pinned: &on}, map[bool]string{true: "pinned", false: "not pinned any more"}[on])
	case "tag", "tags":
		tags := strings.Fields(strings.ReplaceAll(w.rest, "#", " "))
		k.edit(i, harness.SessionEdit{Tags: &tags}, "its tags are now: "+widget.Hashed(tags))
	case "fork":
		return k.forkOf(s)
	case "export":
		k.exportOf(s, w.rest)
	case "delete", "rm":
		k.remove(i)
	default:
		k.unknown(w)
	}
	return false
}

// whole does what was typed at the list about no line of it.
func (k *picker) whole(w wish) (done bool) {
	switch w.word {
	case "more":
		k.list.more(len(k.found), k.describe)
	case "undo":
		if len(k.gone) == 0 {
			k.say("nothing was deleted here; trash lists what was deleted before")
			return false
		}
		s := k.gone[len(k.gone)-1]
		k.gone = k.gone[:len(k.gone)-1]
		k.restore(s)
	case "trash", "all":
		k.filter = harness.SessionFilter{Deleted: w.word == "trash"}
		if k.read() && k.filter.Deleted && len(k.found) > 0 {
			k.say(trashHelp)
		}
	case "find":
		k.filter.Query = w.rest
		k.read()
	default:
		k.unknown(w)
	}
	return false
}

// restore brings a session back from the trash.
func (k *picker) restore(s harness.Session) {
	if err := k.Sessions.Restore(k.ctx, s.ID); err != nil {
		k.trouble(fmt.Errorf("restore session %s: %w", s.ID, err))
		return
	}
	k.say(title(s) + " is back")
	k.filter = harness.SessionFilter{}
	k.read()
}

// peek writes the end of a session that is not opened.
func (k *picker) peek(s harness.Session) {
	records, err := k.Chat.Transcript.Tail(k.ctx, s.ID, 0, peekRecords)
	if err != nil {
		k.trouble(fmt.Errorf("read session %s: %w", s.ID, err))
		return
	}
	k.say("the end of " + title(s) + ":")
	was, marks := k.answer, k.marks // a look at another session changes nothing here
	k.marks = nil
	for _, r := range records {
		k.record(r)
	}
	k.answer, k.marks = was, marks
	k.say("that is its end")
}

func (k *picker) retitle(i int, name string) {
	if name == "" {
		k.say("write the title after it: 2 rename Q3 invoices")
		return
	}
	k.edit(i, harness.SessionEdit{Title: &name, TitleBy: harness.TitleByUser}, "renamed to "+name)
}

// edit changes the description of the session on a line.
func (k *picker) edit(i int, e harness.SessionEdit, said string) {
	s, err := k.Sessions.Edit(k.ctx, k.found[i].ID, e)
	if err != nil {
		k.trouble(fmt.Errorf("edit session %s: %w", k.found[i].ID, err))
		return
	}
	s.Owner = k.found[i].Owner
	k.found[i] = s
	if s.ID == k.session.ID {
		k.session = s
	}
	k.say(said)
}

func (k *picker) forkOf(s harness.Session) (done bool) {
	if s.OpenRun != "" {
		k.say("its answer is unfinished; open it, and /fork 2 in it forks earlier")
		return false
	}
	f, err := k.Sessions.Fork(k.ctx, s.ID, harness.Origin{}, harness.Session{})
	if err != nil {
		k.trouble(fmt.Errorf("fork session %s: %w", s.ID, err))
		return false
	}
	k.goInto(f)
	return true
}

func (k *picker) exportOf(s harness.Session, file string) {
	if k.Chat.Export == nil {
		k.say(chat.OffExport)
		return
	}
	path, err := k.Chat.Export(k.ctx, s.ID, file)
	if err != nil {
		k.trouble(fmt.Errorf("export session %s: %w", s.ID, err))
		return
	}
	k.say("exported to " + path)
}

// remove deletes the session on a line, which can be taken back.
func (k *picker) remove(i int) {
	s := k.found[i]
	switch {
	case s.ID == k.session.ID:
		k.say("it is open here: open another chat first")
		return
	case s.Owner != nil:
		k.say("it is open in " + s.Owner.String() + ": close it there first")
		return
	}
	if err := k.Sessions.Delete(k.ctx, s.ID); err != nil && !errors.Is(err, harness.ErrNotFound) {
		k.trouble(fmt.Errorf("delete session %s: %w", s.ID, err))
		return
	}
	k.gone = append(k.gone, s)
	k.say("deleted " + title(s) + "; undo brings it back (kept 30 days)")
	k.read()
}
