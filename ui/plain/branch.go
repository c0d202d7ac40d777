package plain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cairn/harness"
	"cairn/ui/chat"
	"cairn/ui/chat/tree"
	"cairn/ui/plain/spoken"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// saidWidth is how much of a message is written where another one is meant, in
// cells.
const saidWidth = 60

// branch carries out a command about branches. It is false if c is none.
func (p *plain) branch(c chat.Parsed) bool {
	switch c.Name {
	case "undo":
		p.takeBack()
	case "redo":
		p.bringBack()
	case "edit":
		p.edit(c.Arg)
	case "retry":
		p.retry(c.Arg)
	case "fork":
		p.fork(c.Arg)
	case "tree":
		p.tree(c.Arg)
	case "export":
		p.export(c.Arg)
	case "import":
		p.importFrom(c.Arg)
	default:
		return false
	}
	return true
}

// fixed says why the head cannot be moved now, and reports whether that is so.
func (p *plain) fixed() bool {
	switch {
	case !p.owner:
		p.say("read-only: /takeover takes the session over")
	case p.waits != "":
		p.say("a decision is waiting, and /continue shows it")
	case !p.stored:
		p.say(chat.OffUnsaid)
	default:
		return false
	}
	return true
}

// unfinished is the session's run that has not ended, nil if there is none.
func (p *plain) unfinished() (*harness.Run, error) {
	runs, err := p.Chat.Engine.List(p.ctx, harness.RunFilter{Session: p.session.ID, Unfinished: true})
	if err != nil || len(runs) == 0 {
		return nil, err
	}
	return &runs[0], nil
}

// drop ends the unfinished run, so that what was said in it stays where it was
// said, and reports whether that went well.
func (p *plain) drop() bool {
	run, err := p.unfinished()
	if err == nil && run != nil && run.Status == harness.RunAwaiting {
		p.say("a decision is waiting, and /continue shows it")
		return false
	}
	if err == nil {
		err = chat.Drop(p.ctx, p.Chat.Engine, p.lease, run)
	}
	switch {
	case err != nil:
		p.trouble(err)
	case run != nil:
		p.say(chat.DroppedWords)
	}
	return err == nil
}

// takeBack moves the head to before the last message of the person.
func (p *plain) takeBack() {
	if p.fixed() || !p.drop() {
		return
	}
	turn, words, err := chat.TakeBack(p.ctx, p.Chat.Transcript, p.lease, p.session.ID)
	if err != nil {
		p.trouble(err)
		return
	}
	if turn.Messages == 0 {
		p.say(words)
		return
	}
	p.say(words + "; /redo brings it back. It said:")
	p.out.line(render.Safe(turn.Said.Message.Text()))
	p.ends()
}

// bringBack moves the head one turn on.
func (p *plain) bringBack() {
	if p.fixed() {
		return
	}
	run, err := p.unfinished()
	if err == nil && run != nil {
		p.say("an answer is unfinished: nothing follows it")
		return
	}
	s, words, moved := p.session, "", false
	if err == nil {
		s, err = p.Chat.Sessions.Get(p.ctx, p.session.ID)
	}
	if err == nil {
		words, moved, err = chat.BringBack(p.ctx, p.Chat.Transcript, p.lease, s)
	}
	if err != nil {
		p.trouble(err)
		return
	}
	p.say(words)
	if moved {
		p.ends()
	}
}

// ends says where the conversation ends now.
func (p *plain) ends() {
	records, err := p.Chat.Transcript.Tail(p.ctx, p.session.ID, 0, shownAtOpen)
	if err != nil {
		p.trouble(err)
		return
	}
	p.answer = ""
	for _, r := range slices.Backward(records) {
		if m := r.Message; m != nil && m.Role == harness.RoleAssistant && strings.TrimSpace(m.Text()) != "" {
			p.answer = m.Text()
			break
		}
	}
	for _, r := range slices.Backward(records) {
		if r.Message == nil || r.Message.Role == harness.RoleTool {
			continue
		}
		who := "You"
		if r.Message.Role == harness.RoleAssistant {
			who = "cairn"
		}
		p.say(fmt.Sprintf("the conversation ends with message %d now: %s: %s", r.Seq, who, first(spoken.Text(r.Message.Text()))))
		return
	}
	p.say("the conversation is empty now")
}

// first is how a text begins.
func first(text string) string { return widget.OneLine(text, saidWidth, "...") }

// nth reads the n-th last message of the person. What stands in its way is said.
func (p *plain) nth(n int) (tree.Turn, bool) {
	turn, found, err := tree.Nth(p.ctx, p.Chat.Transcript, p.session.ID, n)
	switch {
	case err != nil:
		p.trouble(err)
	case found < n:
		p.say(chat.TooFew(found))
	}
	return turn, err == nil && found == n
}

// edit asks for what a message of the person is to say instead, and sends that
// on a branch of its own. The text may also follow the number.
func (p *plain) edit(arg string) {
	number, text, _ := strings.Cut(arg, " ")
	n, ok := chat.Which(number)
	if !ok {
		n, text = 1, arg
	}
	if p.fixed() {
		return
	}
	turn, ok := p.nth(n)
	if !ok {
		return
	}
	if text = strings.TrimSpace(text); text == "" {
		p.say("message " + strconv.Itoa(turn.Said.Seq) + " says:")
		p.out.line(render.Safe(turn.Said.Message.Text()))
		p.say("type what it is to say instead; an empty line leaves it")
		if text, ok = p.ask(); !ok || strings.TrimSpace(text) == "" {
			return
		}
		c := p.Chat.Parse(text)
		if c.Typed != "" {
			p.line(text)
			return
		}
		text = c.Text
	}
	p.instead(turn.Said, text, true)
}

// instead sends a text in the place of one of the person's messages, or that as
// it is. What was edited is kept as a draft until it is sent.
func (p *plain) instead(r harness.Record, text string, edited bool) {
	if !p.owner || p.waits != "" {
		p.fixed()
		return
	}
	before, msg := p.kept, *r.Message
	if edited {
		of := tree.Origin(r)
		p.kept.Text, p.kept.Edits, p.unsaved = text, &of, true
		p.saveNow()
	}
	if edited && r.In == "" {
		var ok bool
		if msg, ok = p.written(text, r.Message); !ok {
			return
		}
	}
	if r.In != "" {
		s, err := chat.ForkBefore(p.ctx, p.Chat, p.session.ID, r)
		if err != nil {
			p.unchanged(err, edited)
			return
		}
		p.kept, p.unsaved = before, p.unsaved || edited
		p.goInto(s)
		p.message(text)
		return
	}
	if !p.drop() {
		return
	}
	var handle harness.RunHandle
	err := chat.Instead(p.ctx, p.Chat, p.lease, r, func() (err error) {
		handle, err = p.begin(msg)
		return err
	})
	if err != nil {
		p.unchanged(err, edited)
		return
	}
	p.failed = nil
	if edited {
		p.kept, p.unsaved = before, true
		p.saveNow()
		if err := p.Chat.Prompts.Add(p.ctx, p.session.ID, text); err != nil {
			p.trouble(err)
		}
		p.sentWith(msg)
	}
	p.see(handle, 0, false)
}

// unchanged says why a message could not be replaced.
func (p *plain) unchanged(err error, edited bool) {
	p.trouble(err)
	if edited {
		p.say("nothing was changed; your text is kept as a draft")
	}
}

// retry answers a message of the person again.
func (p *plain) retry(arg string) {
	n, ok := chat.Which(arg)
	if !ok {
		p.say(chat.WhichWords("retry"))
		return
	}
	if p.fixed() {
		return
	}
	run, err := p.unfinished()
	if err != nil {
		p.trouble(err)
		return
	}
	if run != nil && n == 1 {
		handle, err := p.Chat.Engine.Resume(p.ctx, p.lease, run.ID, harness.ResumeRetry)
		if err != nil {
			p.trouble(err)
			return
		}
		p.see(handle, run.Cursor, false)
		return
	}
	if turn, ok := p.nth(n); ok {
		p.instead(turn.Said, turn.Said.Message.Text(), false)
	}
}

// importFrom takes in conversations from a file or directory.
func (p *plain) importFrom(from string) {
	switch from = strings.TrimSpace(from); {
	case p.Chat.Import == nil:
		p.say(chat.OffImport)
		return
	case from == "":
		p.say(chat.ImportWhat)
		return
	}
	said, err := p.Chat.Import(p.ctx, from)
	if err != nil {
		p.trouble(err)
		return
	}
	p.say(said)
}

// export writes the conversation to a file.
func (p *plain) export(file string) {
	switch {
	case p.Chat.Export == nil:
		p.say(chat.OffExport)
		return
	case !p.stored:
		p.say(chat.OffUnsaid)
		return
	}
	path, err := p.Chat.Export(p.ctx, p.session.ID, file)
	if err != nil {
		p.trouble(err)
		return
	}
	p.say("exported to " + path)
}
