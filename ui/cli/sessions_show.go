package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/ui/render"
)

// shown is the document of `cairn sessions show --json`.
type shown struct {
	Session harness.Session `json:"session"`
	// Inherited are the records that a fork has of its parents, oldest first, each
	// with the session in whose log it is.
	Inherited []harness.Record `json:"inherited,omitempty"`
	// Records are all records of its own that are on disk, on every branch, by
	// number.
	Records []harness.Record `json:"records"`
	// Branch are the numbers of those on screen, oldest first.
	Branch []int `json:"branch"`
	// Away are the messages of the branch that models do not get to see any more,
	// because they are condensed, and Pinned those that stay whatever is. Messages
	// of its own log have no session.
	Away   []harness.Origin `json:"not_in_context,omitempty"`
	Pinned []harness.Origin `json:"pinned,omitempty"`
	// Runs are the session's runs, newest first, with their partial text.
	Runs []harness.Run `json:"runs"`

	standing standing
}

func (a *app) sessionsShow() *cobra.Command {
	var tree bool
	var result string
	cmd := &cobra.Command{
		Use: "show SESSION", Short: "Print a conversation, or a large result in it",
		Long: `Print a conversation as it is on screen; in a fork with what was said before, each
message with the session that it is in. With --tree: a line for each message on
every branch, those on screen marked with "*" and the others further in, and the
forks that leave after it. With --json: all records of all branches, and the runs with the text that was
streamed and is no message yet. Messages that are condensed are marked as not in
context; the note that stands for them is printed where it was written. With
--result: the whole of a large result or of an attached file, by its id or the
first 12 digits of that.`,
		Args: exactly(1, "the id or title of a session"),
	}
	cmd.Flags().BoolVar(&tree, "tree", false, "print the tree of all branches, a line a message")
	cmd.Flags().StringVar(&result, "result", "", "print the large result or the file with this `ID`")
	cmd.RunE = runner(func(ctx context.Context, args []string) error {
		st, err := a.reading(ctx)
		if err != nil {
			return err
		}
		s, err := findSession(ctx, st, args[0])
		if err != nil {
			return err
		}
		if cmd.Flags().Changed("result") {
			return a.printArtifact(ctx, st, s.ID, result)
		}
		doc, err := show(ctx, st, s)
		if err != nil {
			return err
		}
		switch {
		case tree:
			return a.showTree(ctx, st, doc)
		case a.flags.json:
			return a.out.document(doc)
		}
		a.printSession(doc)
		return nil
	})
	return cmd
}

// show reads everything about a session.
func show(ctx context.Context, st Store, s harness.Session) (shown, error) {
	doc := shown{Session: s, Records: []harness.Record{}, Branch: []int{}, Runs: []harness.Run{}}
	branch, err := st.Transcript.Tail(ctx, s.ID, 0, 0)
	if err != nil {
		return doc, fmt.Errorf("read session %s: %w", s.ID, err)
	}
	for _, r := range branch {
		if r.In != "" {
			doc.Inherited = append(doc.Inherited, r)
			continue
		}
		doc.Branch = append(doc.Branch, r.Seq)
	}
	if doc.standing, err = standingOf(ctx, st, s, branch); err != nil {
		return doc, err
	}
	doc.mark(branch)
	log, err := st.Transcript.Log(ctx, s.ID, 0, 0)
	if err != nil {
		return doc, fmt.Errorf("read session %s: %w", s.ID, err)
	}
	doc.Records = append(doc.Records, log...)
	if st.Runs == nil {
		return doc, nil
	}
	runs, err := st.Runs.List(ctx, harness.RunFilter{Session: s.ID})
	if err != nil {
		return doc, fmt.Errorf("read the runs of session %s: %w", s.ID, err)
	}
	for _, r := range runs {
		if r.Partial == nil && !r.Status.Closed() {
			if r, err = st.Runs.Get(ctx, r.ID); err != nil {
				return doc, fmt.Errorf("read run %s: %w", r.ID, err)
			}
		}
		doc.Runs = append(doc.Runs, r)
	}
	return doc, nil
}

// mark lists which messages are pinned, and which are not in the context.
func (doc *shown) mark(branch []harness.Record) {
	for _, r := range branch {
		if r.Kind != harness.RecordMessage {
			continue
		}
		at := harness.Origin{Session: r.In, Record: r.Seq}
		if doc.standing.pinned[at] {
			doc.Pinned = append(doc.Pinned, at)
		}
		if !doc.standing.here[at] {
			doc.Away = append(doc.Away, at)
		}
	}
}

// printSession prints a conversation for people.
func (a *app) printSession(doc shown) {
	s := doc.Session
	title := s.Title
	if title == "" {
		title = "(no title)"
	}
	a.out.line("%s", render.SafeLine(title))
	about := fmt.Sprintf("session %s, begun %s, %s", s.ID, a.when(s.Created), harness.Count(s.Messages, "message"))
	if s.Parent != nil {
		about += fmt.Sprintf(" and %d from before, a fork of %s after [%d]", s.Inherited, s.Parent.Session, s.Parent.Record)
	}
	if s.NoMemory {
		about += ", without memory"
	}
	a.out.line("%s", about)
	for _, r := range doc.Inherited {
		a.printRecord(r, doc.standing)
	}
	on := make(map[int]bool, len(doc.Branch))
	for _, seq := range doc.Branch {
		on[seq] = true
	}
	for _, r := range doc.Records {
		if on[r.Seq] {
			a.printRecord(r, doc.standing)
		}
	}
	for _, r := range slices.Backward(doc.Runs) {
		if r.Partial != nil && r.Partial.Text != "" && !r.Status.Closed() {
			a.out.line("\n[unfinished] assistant (%s, run %s)", runWord(r), r.ID)
			a.block(r.Partial.Text)
		}
	}
}

// printRecord prints one record, or nothing if it is none for people.
func (a *app) printRecord(r harness.Record, s standing) {
	if r.Kind == harness.RecordCondensed {
		a.printCondensed(r, s)
	}
	m := r.Message
	if m == nil || m.Mark == harness.MarkNotice {
		return
	}
	who := string(m.Role)
	if m.Role == harness.RoleUser {
		who = "you"
	}
	if m.Name != "" {
		who = m.Name
	}
	var about []string
	for _, part := range []string{string(m.Mark), s.words(r), m.Model, a.when(r.At)} {
		if part != "" {
			about = append(about, part)
		}
	}
	a.out.line("\n[%s] %s (%s)", numberOf(r), render.SafeLine(who), render.SafeLine(strings.Join(about, ", ")))
	for _, p := range m.Parts {
		switch {
		case p.Kind == harness.PartText:
			a.block(p.Text)
		case p.Call != nil:
			a.block(fmt.Sprintf("> %s %s", p.Call.Name, p.Call.Input))
		case p.Result != nil:
			a.block(p.Result.Text)
			for _, f := range p.Files() {
				a.block(fileWords(*f))
			}
		case p.File != nil:
			a.block(fileWords(*p.File))
		}
	}
}

// numberOf is the number of a record, with the session if that is another one.
func numberOf(r harness.Record) string {
	if r.In != "" {
		return fmt.Sprintf("%d in %s", r.Seq, r.In)
	}
	return strconv.Itoa(r.Seq)
}

// block prints text that ends with a newline.
func (a *app) block(text string) {
	text = a.safe(text)
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	a.out.text(text)
}

// runWord says in a word or two how a run stands.
func runWord(r harness.Run) string {
	if r.Interrupted {
		return "interrupted"
	}
	return strings.ReplaceAll(string(r.Status), "_", " ")
}
