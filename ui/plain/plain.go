// Package plain is the chat without a screen: lines come in, new text goes
// out, and nothing that was written is ever changed. It is for screen readers,
// for terminals that cannot place the cursor, and for pipes.
//
// The one thing to know: it holds no state that is not stored. A line that was
// read is a message of the session or a command; while an answer is under way
// lines wait their turn, except /stop.
package plain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"cairn/harness"
	"cairn/ui/chat"
	"cairn/ui/render"
	"cairn/ui/runs/standing"
)

// Deps are what a plain chat is made of.
type Deps struct {
	// Chat are the parts of every chat. Theme, Markdown and Keys are not used.
	Chat    chat.Deps
	Watcher harness.Watcher
	// Open says which session it is on.
	Open chat.Open
	// Rules are the rules of files and flags in words, one each, for
	// /permissions. Grants are the standing permissions; nil if none are kept.
	Rules  []string
	Grants harness.Grants
	// Ledger is for /usage; nil if no account is kept.
	Ledger harness.Ledger
	// NewSession describes a fresh session, for /new.
	NewSession func() harness.Session
	In         io.Reader
	Out        io.Writer
	// Prompted writes a sign when a line is expected. It is for a person at a
	// terminal; without it the lines read are repeated, so that what comes out
	// can be read on its own.
	Prompted bool
	// Interrupts receives at ctrl+c: it stops what is under way, and leaves where
	// nothing is. Nil means that the context ends instead.
	Interrupts <-chan struct{}
	// Still is how long nothing is said of an answer that is under way before a
	// line says that it is, and between two such lines; 0 means 30 seconds, less
	// that none says so.
	Still time.Duration
	Extra
}

// Exit says how the chat was left.
type Exit struct {
	Session harness.SessionID
	// Saved says that the session has messages in the store, all of them.
	Saved bool
}

const (
	// shownAtOpen is how many records of a session are written when it is
	// opened.
	shownAtOpen = 20
	// lineMax bounds a line read, in bytes.
	lineMax = 16 << 20
	// leaveFor bounds the saving at the end.
	leaveFor = 5 * time.Second
)

var errLongLine = errors.New("the line is longer than 16 MB")

// plain is one run of the chat.
type plain struct {
	Deps
	ctx     context.Context
	lines   chan typed
	early   *typed // a line that was read too early
	wanted  chan struct{}
	reading bool            // a line is being read
	changes <-chan struct{} // of the store; nil if they cannot be watched
	readErr error           // why lines ended; set before lines is closed
	out     *writer

	session harness.Session
	stored  bool
	lease   harness.Lease
	owner   bool
	setup   chat.Setup
	queue   []string
	held    []string       // lines typed meanwhile that come after the queue: a command, and what follows it
	waits   harness.RunID  // the run that waits for a decision, if one does
	kept    harness.Draft  // what is in the draft and not to be sent now
	unsaved bool           // whether queue and kept differ from the stored draft
	shown   harness.Origin // the last record written, of a session that is only read
	answer  string         // the source of the last answer
	failed  error          // why something is not stored
	quit    bool
	wish    harness.ResumeHow // what was chosen for the unfinished run before its session was opened
	gone    <-chan struct{}   // closed when a server does not wait for what is asked any more
	asking  string            // what the sign says that a line is for, empty for a message
	warned  bool              // that ctrl+c leaves was said just now
	stray   string            // what a list did not understand
	broken  bool              // it was left by ctrl+c
	// marks say in words how messages that are written stand to the context.
	marks map[harness.Origin]string
	// attached are the mentions of the files that go with the next message.
	attached []string
	// here is how the run that was taken to be driven here is followed on.
	here    takenHere
	listed  []string // the ids of suggestions by their numbers, as listed last
	greeted bool     // what is in the inbox was told
	// completed counts the turns that ended well, titles the calls for a title.
	completed int
	titles    sync.WaitGroup
}

// Run chats until the input ends, /quit, ctrl+c where nothing is under way, or
// ctx. The error is about writing the output or opening the session, or
// [context.Canceled] after ctrl+c; everything else is said in words.
func Run(ctx context.Context, d Deps) (Exit, error) {
	ctx, end := context.WithCancel(ctx)
	p := &plain{Deps: d, ctx: ctx, lines: make(chan typed), wanted: make(chan struct{}, 1), out: &writer{to: d.Out}}
	defer p.titles.Wait()
	defer end()
	return p.run() //nolint:contextcheck // it has ctx, and saves without its end
}

// run is Run with the parts in place.
func (p *plain) run() (Exit, error) {
	go p.read()
	var err error
	if p.changes, err = p.Watcher.Watch(p.ctx); err != nil {
		p.trouble(err)
	}
	err = p.open(p.Open)
	if err == nil && p.Pick {
		p.sessions("")
	}
	if err == nil && p.Open.Prompt != "" {
		p.message(p.Open.Prompt)
	}
	for err == nil && !p.quit && p.ctx.Err() == nil && p.out.err == nil {
		if len(p.queue) > 0 && p.owner && p.waits == "" {
			text := p.queue[0]
			p.queue, p.unsaved = p.queue[1:], true
			p.message(text)
			continue
		}
		if len(p.held) > 0 && p.waits == "" {
			line := p.held[0]
			p.held, p.unsaved = p.held[1:], true
			p.line(line)
			continue
		}
		line, ok := p.ask()
		if !ok {
			break
		}
		p.line(line)
	}
	p.close()
	p.out.ended()
	if err == nil {
		err = errors.Join(p.out.err, p.readErr)
	}
	if err == nil && p.broken {
		err = context.Canceled
	}
	return Exit{Session: p.session.ID, Saved: p.stored && p.failed == nil}, err
}

// heed gives the session to another window that asked for it, after pause has
// stopped what is under way.
func (p *plain) heed(pause func() error) {
	if !p.owner {
		p.look()
		return
	}
	d := p.Chat
	by, asked, err := d.Owners.Asked(p.ctx, p.lease)
	if err != nil {
		p.trouble(err)
		return
	}
	if !asked {
		return
	}
	if err := pause(); err != nil {
		p.trouble(err)
	}
	p.close()
	if !p.unsaved { // what waits is in the draft, for whoever has the session
		p.queue, p.held = nil, nil
	}
	p.say(by.String() + " took this session over; this one is read-only now")
	records, err := d.Transcript.Tail(p.ctx, p.session.ID, 0, 1)
	if err != nil {
		p.trouble(err)
	}
	p.shown = lastOf(records)
}

// acquire takes the session if nobody living has it.
func (p *plain) acquire() {
	lease, err := p.Chat.Owners.Acquire(p.ctx, p.session, p.Chat.Holder)
	if holder, held := harness.AsHeld(err); held {
		p.say("the session is open in " + holder.String() + ": this one is read-only; /takeover takes it over")
		return
	}
	if err != nil {
		p.trouble(err)
		return
	}
	p.hold(lease)
}

// hold goes on as the session's owner: with its draft and its unfinished run.
func (p *plain) hold(lease harness.Lease) {
	d := p.Chat
	p.lease, p.owner, p.waits = lease, true, ""
	p.fetch()
	draft, err := d.Drafts.Load(p.ctx, p.session.ID)
	if err == nil && !p.stored && draft.Text == "" {
		draft, err = d.Drafts.Adopt(p.ctx, p.session.ID, d.Holder)
	}
	if err != nil {
		p.trouble(err)
	}
	p.kept = draft
	if len(draft.Queue) > 0 {
		p.say("these messages were not sent yet:")
		for _, text := range draft.Queue {
			p.out.line(render.Safe(text))
		}
		if p.choose("send them?", "send", "keep them") == 1 {
			p.queue = append(p.queue, draft.Queue...)
			p.kept.Queue, p.unsaved = nil, true
		}
	}
	if draft.Text != "" {
		p.drafted(draft)
	}
	p.offer()
}

// drafted shows a draft and asks what becomes of it. What was written to replace
// a message is sent instead of it, if that is on the branch still.
func (p *plain) drafted(draft harness.Draft) {
	edited, err := chat.EditedBy(p.ctx, p.Chat.Transcript, p.session.ID, draft)
	if err != nil {
		p.trouble(err)
		return
	}
	if edited != nil {
		p.say("your unsent draft, to be sent instead of message " + strconv.Itoa(edited.Seq) + ", is:")
	} else {
		p.say("your unsent draft is:")
	}
	p.out.line(render.Safe(draft.Text))
	for _, words := range p.Chat.Files.Since(p.ctx, draft.Text, draft.At) {
		p.say(words)
	}
	if draft.Edits != nil && edited == nil {
		p.say(chat.NotOnBranch(*draft.Edits))
		p.kept.Edits, p.unsaved = nil, true
	}
	if p.choose("send it?", "send", "keep it") != 1 {
		return
	}
	p.kept.Text, p.kept.Edits, p.unsaved = "", nil, true
	if edited != nil {
		p.instead(*edited, draft.Text, true)
		return
	}
	p.queue = append(p.queue, draft.Text)
}

// choose asks a numbered question; 0 means that none was chosen. A number that
// was not offered is explained, and any other line is carried out as one.
func (p *plain) choose(question string, choices ...string) int {
	for i, c := range choices {
		p.out.line(fmt.Sprintf("  %d  %s", i+1, c))
	}
	for {
		p.out.line(question + " Type a number; an empty line leaves it for later.")
		line, ok := p.answerTo()
		word := strings.TrimSpace(line)
		if !ok || word == "" {
			return 0
		}
		n, err := strconv.Atoi(word)
		switch {
		case err != nil:
			p.line(line)
			return 0
		case n >= 1 && n <= len(choices):
			return n
		}
		p.say(fmt.Sprintf("there is no choice %d: type a number from 1 to %d", n, len(choices)))
	}
}

// offer asks what becomes of the session's unfinished run.
func (p *plain) offer() {
	d := p.Chat
	runs, err := d.Engine.List(p.ctx, harness.RunFilter{Session: p.session.ID, Unfinished: true})
	if err != nil {
		p.trouble(err)
		return
	}
	if len(runs) == 0 {
		return
	}
	run := runs[0]
	if full, err := d.Engine.Get(p.ctx, run.ID); err == nil {
		run = full
	}
	switch why := standing.Unreachable(run); {
	case run.Status.Closed(): // elsewhere, and still to be fetched
		return
	case why != "":
		p.say("an unfinished answer is kept elsewhere: " + why + "; /continue tries again")
		return
	case chat.GoesOnElsewhere(d, run):
		p.followAway(run)
		return
	}
	if len(run.Pending) > 0 {
		h, after := p.decide(run.ID)
		p.see(h, after, false)
		return
	}
	p.say(p.unfinishedWords(run))
	if run.Partial != nil && run.Partial.Text != "" {
		p.out.speak("cairn (interrupted)", run.Partial.Text)
	}
	how := p.wish
	if p.wish = ""; how == "" {
		how = []harness.ResumeHow{"", harness.ResumeContinue, harness.ResumeRetry, harness.ResumeDrop}[p.choose("What is to become of it?", "continue", "retry", "drop")]
	}
	if how == "" {
		return
	}
	handle, err := d.Engine.Resume(p.ctx, p.lease, run.ID, how)
	if err != nil {
		p.trouble(err)
		return
	}
	p.see(handle, run.Cursor, how == harness.ResumeContinue)
}

// unfinishedWords say how a run stands, and why it failed if it did.
func (p *plain) unfinishedWords(run harness.Run) string {
	words := "an answer is unfinished (" + string(run.Status) + ")"
	if run.Error != nil {
		words += ": " + strings.TrimSuffix(p.Chat.Words(run.Error), ".")
	}
	if stays := chat.StaysWith(run, p.setup.Run.Model); stays != "" {
		words += "; " + stays
	}
	return words
}

// close stores what is queued and lets the session go.
func (p *plain) close() {
	if !p.owner {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), leaveFor)
	defer cancel()
	d := p.Chat
	var errs []error
	errs = append(errs, p.save(ctx), d.Owners.Release(ctx, p.lease))
	p.owner = false
	if err := errors.Join(errs...); err != nil {
		p.failed = err
		p.say("not saved: " + d.Words(err))
	}
}

// save stores what waits to be sent, if it changed.
func (p *plain) save(ctx context.Context) error {
	if !p.unsaved || !p.owner {
		return nil
	}
	d := harness.Draft{Text: joined(p.kept.Text, p.attached), Edits: p.kept.Edits, Queue: slices.Concat(p.queue, p.heldMessages(), p.kept.Queue), At: p.Chat.Now()}
	if err := p.Chat.Drafts.Save(ctx, p.session.ID, p.Chat.Holder, d); err != nil {
		return err
	}
	p.unsaved = false
	return nil
}

// saveNow is save, its error said.
func (p *plain) saveNow() {
	if err := p.save(p.ctx); err != nil {
		p.failed = err
		p.trouble(err)
	}
}

// say writes a line of the program's own.
func (p *plain) say(text string) { p.out.line("- " + render.Safe(text)) }

// unlessEphemeral is text, or other in a chat of which nothing is kept.
func (p *plain) unlessEphemeral(text, other string) string {
	if p.Chat.Ephemeral {
		return other
	}
	return text
}

// trouble says an error. A session that another window took is read-only.
func (p *plain) trouble(err error) {
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return
	case errors.Is(err, harness.ErrLost):
		p.owner = false
	}
	p.Chat.Log.Warn("plain chat", slog.String("session", string(p.session.ID)), slog.Any("err", err))
	p.say(p.Chat.Words(err))
}
