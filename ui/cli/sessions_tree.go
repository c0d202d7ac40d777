package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"cairn/harness"
	"cairn/ui/render"
)

// treeNode is one record in the tree of a session.
type treeNode struct {
	// Record is its number, in the session In if that is another one.
	Record int               `json:"record"`
	In     harness.SessionID `json:"in,omitempty"`
	// Prev is the number of the record before it, 0 if there is none in its log.
	Prev int                `json:"prev,omitempty"`
	Kind harness.RecordKind `json:"kind"`
	Role harness.Role       `json:"role,omitempty"`
	Mark harness.Mark       `json:"mark,omitempty"`
	Text string             `json:"text,omitempty"`
	// Depth counts the branches that it is away from the one on screen.
	Depth int `json:"depth"`
	// Shown says that it is on screen.
	Shown bool `json:"shown"`
	// Forks are the sessions that leave after it.
	Forks []treeFork `json:"forks,omitempty"`
}

// treeFork is a fork in a tree.
type treeFork struct {
	ID    harness.SessionID `json:"id"`
	Title string            `json:"title,omitempty"`
}

// showTree prints the tree of a session.
func (a *app) showTree(ctx context.Context, st Store, doc shown) error {
	forks, err := forksOf(ctx, st)
	if err != nil {
		return err
	}
	nodes := treeOf(doc, forks)
	if a.flags.json {
		return a.out.document(struct {
			Session harness.Session `json:"session"`
			Nodes   []treeNode      `json:"nodes"`
		}{doc.Session, nodes})
	}
	for _, n := range nodes {
		mark := " "
		if n.Shown {
			mark = "*"
		}
		indent := strings.Repeat("    ", n.Depth)
		a.treeLine(mark + " " + indent + n.line())
		for _, f := range n.Forks {
			a.treeLine("  " + indent + "    > fork " + string(f.ID) + "  " + f.Title)
		}
	}
	return nil
}

// treeLine prints a line, cut to the terminal's width.
func (a *app) treeLine(text string) {
	text = strings.TrimRight(render.SafeLine(text), " ")
	if a.s.Width > 0 {
		text = ansi.Truncate(text, a.s.Width, "…")
	}
	a.out.line("%s", text)
}

// maxTreeText bounds the text of a message in a tree, in cells.
const maxTreeText = 100

// line is a record in a line.
func (n treeNode) line() string {
	where := fmt.Sprintf("[%s] ", numberOf(harness.Record{Seq: n.Record, In: n.In}))
	if n.Kind != harness.RecordMessage {
		return where + "(" + string(n.Kind) + ")"
	}
	who := string(n.Role)
	if n.Role == harness.RoleUser {
		who = "you"
	}
	if n.Mark != harness.MarkNone {
		who += " (" + string(n.Mark) + ")"
	}
	return where + who + ": " + n.Text
}

// forksOf lists the sessions that leave others, by the record after which they do.
func forksOf(ctx context.Context, st Store) (map[harness.Origin][]treeFork, error) {
	all, err := st.Sessions.List(ctx, harness.SessionFilter{})
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	forks := map[harness.Origin][]treeFork{}
	for _, s := range all {
		if s.Parent != nil {
			forks[*s.Parent] = append(forks[*s.Parent], treeFork{s.ID, s.Title})
		}
	}
	return forks, nil
}

// treeOf lists the records of a session. Where branches part, those that are not
// on screen come first, one step further in; where none is on screen, the one that
// was begun last goes on as it is.
func treeOf(doc shown, forks map[harness.Origin][]treeFork) []treeNode {
	var nodes []treeNode
	add := func(r harness.Record, depth int, shown bool) {
		n := treeNode{Record: r.Seq, In: r.In, Prev: r.Prev, Kind: r.Kind, Depth: depth, Shown: shown}
		if m := r.Message; m != nil {
			n.Role, n.Mark, n.Text = m.Role, m.Mark, ansi.Truncate(render.SafeLine(gist(*m)), maxTreeText, "…")
		}
		at := harness.Origin{Session: doc.Session.ID, Record: r.Seq}
		if r.In != "" {
			at.Session = r.In
		}
		n.Forks = forks[at]
		nodes = append(nodes, n)
	}
	for _, r := range doc.Inherited {
		add(r, 0, true)
	}
	after := make(map[int][]harness.Record, len(doc.Records))
	for _, r := range doc.Records {
		after[r.Prev] = append(after[r.Prev], r)
	}
	on := make(map[int]bool, len(doc.Branch))
	for _, seq := range doc.Branch {
		on[seq] = true
	}
	type place struct {
		record harness.Record
		depth  int
	}
	// A stack and no recursion: a branch has as many records as people wrote.
	var stack []place
	push := func(seq, depth int) {
		next := after[seq]
		main := len(next) - 1
		for i, r := range next {
			if on[r.Seq] {
				main = i
			}
		}
		if main >= 0 {
			stack = append(stack, place{next[main], depth})
		}
		for i := len(next) - 1; i >= 0; i-- {
			if i != main {
				stack = append(stack, place{next[i], depth + 1})
			}
		}
	}
	push(0, 0)
	for len(stack) > 0 {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		add(p.record, p.depth, on[p.record.Seq])
		push(p.record.Seq, p.depth)
	}
	return nodes
}

// gist is the beginning of what a message says, or does, on one line.
func gist(m harness.Message) string {
	if text := beginning(m.Text()); text != "" {
		return text
	}
	for _, p := range m.Parts {
		switch {
		case p.Call != nil:
			return "> " + p.Call.Name
		case p.Result != nil:
			return p.Result.Name + ": " + beginning(p.Result.Text)
		case p.File != nil:
			return "(file " + p.File.Name + ")"
		}
	}
	return ""
}

// beginning is the first words of a text. Only these are looked at, however long
// it is.
func beginning(text string) string {
	const enough = 16 * maxTreeText
	if text = strings.TrimSpace(text); len(text) > enough {
		text = strings.ToValidUTF8(text[:enough], "")
	}
	return strings.Join(strings.Fields(text), " ")
}
