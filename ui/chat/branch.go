package chat

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/chat/tree"
)

// branching is how the branch on screen is being changed.
type branching struct {
	// moving says that a move of the head is under way.
	moving bool
	// returned is what was taken back, as it was put into the box.
	returned string
	// edit is the message that what is in the box is to replace.
	edit editing
	// missed is the record that was asked for and is on another branch.
	missed harness.Origin
	// tree is the screen of the branches; forks are the sessions that have a
	// parent, as far as they were read.
	tree  tree.Model
	forks []harness.Session
}

// Why the branch on screen cannot be changed now.
const (
	offReader  = "this window is read-only: /takeover takes the session over"
	offGone    = "the session is deleted"
	offRuns    = "an answer is under way; stop it first"
	offWaits   = "a decision is waiting; take it first"
	offMoving  = "the branches are being changed already"
	offOpening = "the session is still being opened"
	OffUnsaid  = "nothing was said in this chat yet"
)

// fixed is why the head cannot be moved now, empty if it can.
func (m Model) fixed() string {
	switch {
	case m.own.state == accessOpening:
		return offOpening
	case m.own.state != accessOwner:
		return offReader
	case m.own.gone:
		return offGone
	case m.turn.active():
		return offRuns
	case m.open != nil && m.open.Status == harness.RunAwaiting:
		return offWaits
	case m.branch.moving:
		return offMoving
	case m.condensing.busy():
		return offCondensing
	case !m.stored:
		return OffUnsaid
	}
	return ""
}

// branchNames are the commands that keys carry out.
var branchNames = map[string]string{ //nolint:gochecknoglobals // a table
	actTree: "tree", actAmend: "edit", actTakeBack: "undo", actBringBack: "redo",
}

// branchCommand carries out a slash command about branches.
func (m Model) branchCommand(p Parsed) (next Model, cmd tea.Cmd, done bool) {
	switch p.Name {
	case "undo":
		next, cmd = m.takeBack()
	case "redo":
		next, cmd = m.bringBack()
	case "retry":
		next, cmd = m.retry(p.Arg)
	case "edit":
		next, cmd = m.editNth(p.Arg)
	case "fork":
		next, cmd = m.forkNth(p.Arg)
	case "tree":
		next, cmd = m.openTree()
	case "export":
		next, cmd = m.export(p.Arg)
	case "import":
		next, cmd = m.importFrom(p.Arg)
	default:
		return m, nil, false
	}
	return next, cmd, true
}

// movedMsg says that the head was moved, or why not.
type movedMsg struct {
	to
	loaded loadedMsg // the session as it is now
	notice string
	// text is what was taken back, empty where the branch goes on; moved says
	// that the head moved, and goal is the message to be shown.
	text  string
	moved bool
	goal  harness.Origin
	// dropped says that an unfinished answer was dropped before.
	dropped bool
	err     error
}

// moveBy begins a move of the head. What move returns is said; it may set the
// text and the goal of the message, too. An unfinished run is dropped first, so
// that what was said in it stays where it was said.
func (m Model) moveBy(move func(ctx context.Context, out *movedMsg) error) (Model, tea.Cmd) {
	m.branch.moving = true
	ctx, d, to, lease, open, reload := m.ctx, m.deps, m.to(), m.own.lease, m.open, m.reload()
	return m, func() tea.Msg {
		out := movedMsg{to: to}
		if out.err = Drop(ctx, d.Engine, lease, open); out.err == nil {
			out.dropped = open != nil
			out.err = move(ctx, &out)
		}
		out.loaded, _ = reload().(loadedMsg)
		return out
	}
}

// DroppedWords say that an unfinished answer was dropped.
const DroppedWords = "the unfinished answer is dropped, and kept in the log"

// Drop ends an unfinished run; what was said in it is stored.
func Drop(ctx context.Context, e harness.Engine, l harness.Lease, run *harness.Run) error {
	if run == nil {
		return nil
	}
	h, err := e.Resume(ctx, l, run.ID, harness.ResumeDrop)
	if err == nil {
		_, err = h.Wait(ctx)
	}
	if err != nil {
		return fmt.Errorf("drop run %s: %w", run.ID, err)
	}
	return nil
}

func (msg movedMsg) apply(m Model) (Model, tea.Cmd) {
	m.branch.moving = false
	if msg.goal.Record > 0 {
		m.goal = msg.goal
	}
	m.pages.follow = true
	m.turn.live = nil
	m, cmd := msg.loaded.apply(m)
	cmds := []tea.Cmd{cmd, m.findOpen()}
	if msg.err != nil {
		m.failed = msg.err
		m, cmd = m.trouble(msg.err)
		return m, tea.Batch(append(cmds, cmd)...)
	}
	if msg.moved && !m.draft.eager {
		m = m.giveBack(msg.text)
	}
	if m.notice = msg.notice; msg.dropped {
		m.notice += " " + m.deps.Theme.Ornaments.Dot + " " + DroppedWords
	}
	if m.draft.eager { // sent while it was under way
		m.draft.eager = false
		m, cmd = m.sendQueued()
		cmds = append(cmds, cmd)
	}
	m, cmd = m.armDraft()
	return m, tea.Batch(append(cmds, cmd)...)
}

// giveBack puts what was taken back into the box, unless something else is
// being written there.
func (m Model) giveBack(text string) Model {
	if m.branch.edit.on() || !m.box.Blank() && m.box.Text() != m.branch.returned {
		return m
	}
	if m.box.Text() != text {
		m.box = m.box.SetText(text)
		m.draft.version++
	}
	m.branch.returned = text
	return m
}

// behindReturned carries out a further move that was typed behind what the one
// before put into the box, where that is still as it was.
func (m Model) behindReturned() (next Model, cmd tea.Cmd, done bool) {
	behind, ok := strings.CutPrefix(m.box.Text(), m.branch.returned)
	p := ParseSlash(strings.TrimSpace(behind))
	if !ok || m.branch.returned == "" || m.branch.edit.on() || p.Arg != "" || p.Name != "undo" && p.Name != "redo" {
		return m, nil, false
	}
	m.box = m.box.SetText(m.branch.returned)
	m.draft.version++
	m.notice = ""
	return m.branchCommand(p)
}

// takeBack moves the head to before the last message of the person, whose text
// goes back into the box.
func (m Model) takeBack() (Model, tea.Cmd) {
	if why := m.fixed(); why != "" {
		m.notice = why
		return m, nil
	}
	d, lease, id, dot, back := m.deps, m.own.lease, m.session.ID, " "+m.deps.Theme.Ornaments.Dot+" ", "/redo"
	if k := m.keyOf(actBringBack); k != "" {
		back += " or " + k
	}
	return m.moveBy(func(ctx context.Context, out *movedMsg) error {
		turn, words, err := TakeBack(ctx, d.Transcript, lease, id)
		out.notice = words
		if out.moved = turn.Messages > 0; out.moved {
			out.text = turn.Said.Message.Text()
			out.notice += dot + back + " brings it back"
		}
		return err
	})
}

// TakeBack moves the head of a session to before the last message of the
// person, and says so in words. There is no turn if nothing could be taken
// back.
func TakeBack(ctx context.Context, t harness.Transcript, l harness.Lease, id harness.SessionID) (tree.Turn, string, error) {
	turn, found, err := tree.Nth(ctx, t, id, 1)
	switch {
	case err != nil:
		return tree.Turn{}, "", err
	case found == 0:
		return tree.Turn{}, "there is nothing to take back", nil
	case turn.Said.In != "":
		return tree.Turn{}, "this is where the fork begins; what is above was said before. /fork 2 forks further up", nil
	}
	if err := t.MoveHead(ctx, l, turn.Said.Prev); err != nil {
		return tree.Turn{}, "", fmt.Errorf("take back message %d: %w", turn.Said.Seq, err)
	}
	words := "took back message " + strconv.Itoa(turn.Said.Seq)
	if n := turn.Messages - 1; n > 0 {
		words += " and " + harness.Count(n, "message") + " after it"
	}
	return turn, words, nil
}

// bringBack moves the head one turn on, along the newest branch that follows.
func (m Model) bringBack() (Model, tea.Cmd) {
	why := m.fixed()
	if m.open != nil && why == "" {
		why = "an answer is unfinished: nothing follows it"
	}
	if why != "" {
		m.notice = why
		return m, nil
	}
	d, lease, id := m.deps, m.own.lease, m.session.ID
	return m.moveBy(func(ctx context.Context, out *movedMsg) error {
		s, err := d.Sessions.Get(ctx, id)
		if err == nil {
			out.notice, out.moved, err = BringBack(ctx, d.Transcript, lease, s)
		}
		return err
	})
}

// BringBack moves the head of a session one turn on, along the newest branch
// that follows, if one does, and says so in words.
func BringBack(ctx context.Context, t harness.Transcript, l harness.Lease, s harness.Session) (words string, moved bool, err error) {
	seq, messages, err := tree.Forward(ctx, t, s.ID, s.Head)
	switch {
	case err != nil:
		return "", false, err
	case seq == s.Head:
		return "there is nothing to bring back; /tree shows all branches", false, nil
	}
	if err := t.MoveHead(ctx, l, seq); err != nil {
		return "", false, fmt.Errorf("bring back message %d: %w", seq, err)
	}
	return "brought back " + harness.Count(messages, "message"), true, nil
}

// Which is the number that follows a command about the n-th last message of the
// person; 1 is the last one.
func Which(arg string) (n int, ok bool) {
	if arg == "" {
		return 1, true
	}
	n, err := strconv.Atoi(arg)
	return n, err == nil && n > 0
}

// WhichWords say what may follow such a command.
func WhichWords(command string) string {
	return "/" + command + " 2 is about the message before your last one; without a number it is the last one"
}

// nthMsg brings a message of the person.
type nthMsg struct {
	to
	turn  tree.Turn
	found int
	want  int
	then  func(Model, tree.Turn) (Model, tea.Cmd)
	err   error
}

// nth reads the n-th last message of the person and goes on with it.
func (m Model) nth(n int, then func(Model, tree.Turn) (Model, tea.Cmd)) tea.Cmd {
	ctx, d, to, id := m.ctx, m.deps, m.to(), m.session.ID
	return func() tea.Msg {
		turn, found, err := tree.Nth(ctx, d.Transcript, id, n)
		return nthMsg{to, turn, found, n, then, err}
	}
}

func (msg nthMsg) apply(m Model) (Model, tea.Cmd) {
	switch {
	case msg.err != nil:
		return m.trouble(msg.err)
	case msg.found < msg.want:
		m.notice = TooFew(msg.found)
		return m, nil
	}
	return msg.then(m, msg.turn)
}

// TooFew says that a branch has no more messages of the person than these.
func TooFew(found int) string {
	if found == 0 {
		return "no message of yours is on this branch"
	}
	return "only " + harness.Count(found, "message") + " of yours on this branch"
}
