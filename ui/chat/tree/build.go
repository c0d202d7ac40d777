// Package tree is the branches of a session: what the person said, in the
// order of the branches, and the screen to choose among them.
//
// The one thing to know: only messages of the person are rows, whatever their
// number; what was answered belongs to them. The branch that is shown runs down
// the left edge, also past the head, and others leave it to the right.
package tree

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"cairn/harness"
	"cairn/ui/widget"
)

// Row is a line of the tree: a message of the person, the beginning, or a fork
// of the session.
type Row struct {
	// Said is the message; its record is 0 in the row of the beginning.
	Said harness.Origin
	// Fork is the session that a row leads to, empty in others.
	Fork harness.SessionID
	// Text is how the message begins, or what the fork is called.
	Text string
	At   time.Time
	// Below counts the messages after this one, on all its branches.
	Below int
	// On says that the row is on the branch that is shown, and Head that the
	// branch ends in its turn.
	On, Head bool
	// Leaf is the newest record at or below the row, in the session's own log;
	// 0 of a message that a fork has of its parents.
	Leaf int
	// End is the last record of the row's turn.
	End harness.Origin

	depth  int  // how many branchings are between it and the left edge
	leaves bool // it is the first of a branch that leaves another
	tip    bool // no message of the person follows it
}

// textMax bounds how much of a message a row keeps, in bytes.
const textMax = 400

// node is a message of the person while the tree is built. The first one of a
// session that is no fork is the beginning.
type node struct {
	Row
	parent   int
	children []int // oldest first
}

// builder collects nodes. A child comes after its parent.
type builder struct {
	nodes []node
	// owner is the node that a record of the session's own log belongs to, by
	// number.
	owner []int
	at    map[harness.Origin]int // of inherited records
}

// Tree is what was said in a session, on all its branches.
type Tree struct {
	id harness.SessionID
	b  builder
}

// Build reads what was said in a session.
func Build(ctx context.Context, t Transcript, s harness.Session) (Tree, error) {
	b := builder{nodes: []node{{parent: -1}}, owner: []int{0}, at: map[harness.Origin]int{}}
	if s.Parent != nil {
		if err := b.inherit(ctx, t, s.ID); err != nil {
			return Tree{}, err
		}
	}
	if err := eachOf(ctx, t, s.ID, 0, b.add); err != nil {
		return Tree{}, err
	}
	b.sum()
	b.mark(s.Head)
	return Tree{s.ID, b}, nil
}

// Said is the message of the person to whose turn a record of the session's own
// log belongs, if it does to one.
func (t Tree) Said(o harness.Origin) (harness.Origin, bool) {
	if o.Session != "" || o.Record < 1 || o.Record >= len(t.b.owner) {
		return harness.Origin{}, false
	}
	said := t.b.nodes[t.b.owner[o.Record]].Said
	return said, said.Record > 0
}

// Rows lays the tree out. Of the sessions given those are listed, too, that
// were forked from it.
func (t Tree) Rows(sessions ...harness.Session) []Row {
	if t.b.nodes == nil {
		return nil
	}
	forks := map[int][]Row{}
	for _, s := range sessions {
		if at, ok := t.forked(s); ok {
			row := Row{Fork: s.ID, Text: cmp.Or(s.Title, string(s.ID)), At: s.Updated, Below: s.Messages}
			forks[at] = append(forks[at], row)
		}
	}
	return t.b.rows(forks)
}

// forked is the node after which a session was forked, if it was.
func (t Tree) forked(s harness.Session) (at int, ok bool) {
	if s.Parent == nil || s.Deleted != nil || s.ID == t.id {
		return 0, false
	}
	if s.Parent.Session == t.id && s.Parent.Record < len(t.b.owner) {
		return t.b.owner[s.Parent.Record], true
	}
	at, ok = t.b.at[*s.Parent]
	return at, ok
}

// inherit takes what a fork has of its parents.
func (b *builder) inherit(ctx context.Context, t Transcript, id harness.SessionID) error {
	records, err := t.Tail(ctx, id, 0, 0)
	if err != nil {
		return fmt.Errorf("read the branch of session %s: %w", id, err)
	}
	last := 0
	for _, r := range records {
		if r.In == "" {
			break
		}
		if Said(r) {
			last = b.child(last, r)
		}
		n := &b.nodes[last]
		n.End = Origin(r)
		if r.Message != nil && !Said(r) {
			n.Below++
		}
		b.at[Origin(r)] = last
	}
	b.owner[0] = last
	return nil
}

// child adds a message of the person below another.
func (b *builder) child(parent int, r harness.Record) int {
	n := node{parent: parent, Row: Row{Said: Origin(r), Text: widget.Head(r.Message.Text(), textMax), At: r.At}}
	b.nodes = append(b.nodes, n)
	b.nodes[parent].children = append(b.nodes[parent].children, len(b.nodes)-1)
	return len(b.nodes) - 1
}

// add takes a record of the session's own log.
func (b *builder) add(r harness.Record) {
	for len(b.owner) < r.Seq { // numbers that are missing belong to the beginning
		b.owner = append(b.owner, b.owner[0])
	}
	at := b.owner[0]
	if r.Prev > 0 && r.Prev < len(b.owner) {
		at = b.owner[r.Prev]
	}
	if Said(r) {
		at = b.child(at, r)
	} else if r.Message != nil {
		b.nodes[at].Below++
	}
	n := &b.nodes[at]
	n.Leaf, n.End = r.Seq, Origin(r)
	b.owner = append(b.owner, at)
}

// sum counts what is below each node, and finds the newest record there.
func (b *builder) sum() {
	for i := len(b.nodes) - 1; i > 0; i-- {
		n := &b.nodes[i]
		up := &b.nodes[n.parent]
		up.Below += n.Below + 1
		up.Leaf = max(up.Leaf, n.Leaf)
	}
}

// mark notes what is on the branch that ends at a record.
func (b *builder) mark(head int) {
	at := b.owner[0]
	if head < len(b.owner) {
		at = b.owner[head]
	}
	b.nodes[at].Head = true
	for ; at >= 0; at = b.nodes[at].parent {
		b.nodes[at].On = true
	}
}

// main is the child in which a node goes on along the left edge: the one on the
// branch shown, else the one with the newest record.
func (b *builder) main(n node) int {
	return slices.MaxFunc(n.children, func(i, j int) int {
		x, y := b.nodes[i], b.nodes[j]
		if x.On != y.On {
			if x.On {
				return 1
			}
			return -1
		}
		return cmp.Compare(x.Leaf, y.Leaf)
	})
}

// rows lays the nodes out: each, its forks, the branches that leave it, and
// then what it goes on with.
func (b *builder) rows(forks map[int][]Row) []Row {
	type visit struct {
		node, depth int
		leaves      bool
	}
	var rows []Row
	stack := []visit{{}}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		n := b.nodes[v.node]
		n.depth, n.leaves, n.tip = v.depth, v.leaves, len(n.children) == 0
		if v.node > 0 || n.Head || len(n.children) > 1 || len(forks[v.node]) > 0 {
			rows = append(rows, n.Row)
		}
		for _, f := range forks[v.node] {
			f.depth = v.depth
			rows = append(rows, f)
		}
		if len(n.children) == 0 {
			continue
		}
		straight := b.main(n)
		stack = append(stack, visit{straight, v.depth, false})
		for _, c := range slices.Backward(n.children) {
			if c != straight {
				stack = append(stack, visit{c, v.depth + 1, true})
			}
		}
	}
	return rows
}
