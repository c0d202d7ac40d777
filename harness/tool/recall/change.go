package recall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"cairn/harness"
	"cairn/harness/tool"
)

// Updated begins the result of an update that made a new revision, Forgotten
// that of moving something to the trash.
const (
	Updated   = "Updated: "
	Forgotten = "Forgotten: "
)

// DaysKept is how long what was forgotten can be brought back.
const DaysKept = 30

type updateIn struct {
	ID       string   `json:"id" jsonschema:"the id as recall_memories shows it, such as f12 or n3"`
	Text     string   `json:"text,omitempty" jsonschema:"the new statement of a fact"`
	Category string   `json:"category,omitempty" jsonschema:"the new category of a fact"`
	Title    string   `json:"title,omitempty" jsonschema:"the new title of a note"`
	Body     string   `json:"body,omitempty" jsonschema:"the new Markdown of a note, all of it"`
	Tags     []string `json:"tags,omitempty" jsonschema:"the new tags, all of them"`
	Why      string   `json:"why,omitempty" jsonschema:"why, in one sentence for the user"`
}

type forgetIn struct {
	ID  string `json:"id" jsonschema:"the id as recall_memories shows it, such as f12 or n3"`
	Why string `json:"why,omitempty" jsonschema:"why, in one sentence for the user"`
}

// Both are idempotent by nature: what is so already is not written again. Those
// of one reply run in order, because they may be about the same fact.
func (m memory) updateTool() (tool.Tool, error) {
	return tool.New(UpdateTool, "Change something remembered that is out of date or wrong; what it was stays in its history. What is left out stays as it is.",
		m.update, tool.WithPermission(tool.Allow), tool.WithReplay(tool.Idempotent), tool.WithJudge(m.judge("change")),
		tool.WithPropose(proposing(m.proposeUpdate)), tool.Sequential())
}

func (m memory) forgetTool() (tool.Tool, error) {
	return tool.New(ForgetTool, "Forget something remembered because the user asks for it. It goes to the trash, from where the user can bring it back.",
		m.forget, tool.WithPermission(tool.Allow), tool.WithReplay(tool.Idempotent), tool.WithJudge(m.judge("wish to forget")),
		tool.WithPropose(proposing(m.proposeForget)), tool.Sequential())
}

// entry is a fact or a note as the tools change it.
type entry struct {
	fact *harness.Fact
	note *harness.Note
}

// ids are the forms of an id: as such, and as recalled lines name it.
const ids = `(?i)^\[?(?:fact/|note/)?([fn][1-9][0-9]{0,17}|` + harness.NewIDPrefix + `[a-z0-9_]{1,200})\]?$`

// find returns what has the id, in whatever state.
func (m memory) find(ctx context.Context, typed string) (entry, error) {
	parts := regexp.MustCompile(ids).FindStringSubmatch(strings.TrimSpace(typed))
	if parts == nil {
		return entry{}, fmt.Errorf("%q is no id; ids are like f12 for a fact and n3 for a note, and %s shows them", tool.Clip(Inert(typed), maxCategory), RecallTool)
	}
	id := strings.ToLower(parts[1])
	var e entry
	var err error
	switch {
	case strings.HasPrefix(id, harness.NewIDPrefix):
		e, err = m.fresh(ctx, id)
	case id[0] == 'f' && m.facts != nil:
		var f harness.Fact
		f, err = m.facts.Get(ctx, id)
		e.fact = &f
	case id[0] == 'n' && m.notes != nil:
		var n harness.Note
		n, err = m.notes.Get(ctx, id)
		e.note = &n
	default:
		return entry{}, fmt.Errorf("there is no %s: memory is kept %s", id, m.layers())
	}
	if err == nil && m.agent != nil && !e.active() {
		err = harness.ErrNotFound // what is off or forgotten is no business of others
	}
	switch {
	case errors.Is(err, harness.ErrNotFound):
		return entry{}, fmt.Errorf("there is no %s; %s shows the ids", id, RecallTool)
	case err != nil:
		return entry{}, fmt.Errorf("read %s: %w", id, err)
	}
	return e, nil
}

// fresh finds what was saved in this run and has no id of its own yet.
func (m memory) fresh(ctx context.Context, id string) (entry, error) {
	err := fmt.Errorf("read %s: %w", id, harness.ErrNotFound)
	if m.facts != nil {
		var f harness.Fact
		if f, err = m.facts.Get(ctx, id); err == nil || m.notes == nil || !errors.Is(err, harness.ErrNotFound) {
			return entry{fact: &f}, err
		}
	}
	if m.notes != nil {
		var n harness.Note
		n, err = m.notes.Get(ctx, id)
		return entry{note: &n}, err
	}
	return entry{}, err
}

func (e entry) id() string {
	if e.fact != nil {
		return e.fact.ID
	}
	return e.note.ID
}

func (e entry) trashed() bool {
	if e.fact != nil {
		return e.fact.State == harness.StateTrashed
	}
	return e.note.State == harness.StateTrashed
}

func (e entry) active() bool {
	if e.fact != nil {
		return e.fact.State == harness.StateActive
	}
	return e.note.State == harness.StateActive
}

func (e entry) line() string {
	if e.fact != nil {
		return FactLine(*e.fact)
	}
	return NoteLine(*e.note)
}

// revision is the number of the version.
func (e entry) revision() int {
	if e.fact != nil {
		return e.fact.Revision
	}
	return e.note.Revision
}

// state stands for the version that a person was shown.
func (e entry) state() string {
	return fmt.Sprintf("%s v%d trashed=%v", e.id(), e.revision(), e.trashed())
}

// subject names it for a person.
func (e entry) subject() string {
	if e.fact != nil {
		return "fact " + e.fact.ID
	}
	return "note " + e.note.ID
}

// whole is all of it as a person compares two versions.
func (e entry) whole() string {
	if f := e.fact; f != nil {
		return fmt.Sprintf("%s\ncategory: %s\ntags: %s\n", f.Text, f.Category, strings.Join(f.Tags, ", "))
	}
	n := e.note
	return fmt.Sprintf("# %s\ntags: %s\n\n%s\n", n.Title, strings.Join(n.Tags, ", "), strings.TrimSuffix(n.Body, "\n"))
}

// unchanged refuses to act on another version than the one agreed to.
func (e entry) unchanged(c tool.Call) error {
	if c.State != "" && c.State != e.state() {
		return fmt.Errorf("%s was changed or forgotten since the user agreed, so nothing was done; look at it again", e.id())
	}
	return nil
}

// change is an update that was checked: what is there, what would be, and the
// fields in which the two differ.
type change struct {
	was, next entry
	fact      harness.FactEdit
	note      harness.NoteEdit
	differs   bool
}

// plan checks an update and says what it would change.
func (m memory) plan(ctx context.Context, in updateIn) (ch change, err error) {
	for _, field := range []*string{&in.Text, &in.Category, &in.Title, &in.Body} {
		*field = strings.TrimSpace(*field)
	}
	if in.Tags, err = tags(in.Tags); err != nil {
		return ch, err
	}
	e, err := m.find(ctx, in.ID)
	switch {
	case err != nil:
		return ch, err
	case e.trashed():
		return ch, fmt.Errorf("%s is forgotten, so it cannot be changed; the user can bring it back in the memory browser", e.id())
	}
	if err := in.check(e); err != nil {
		return ch, err
	}
	return in.on(e), nil
}

// on returns what the update does to e.
func (in updateIn) on(e entry) change {
	ch := change{was: e}
	if e.fact != nil {
		next := *e.fact
		ch.next.fact = &next
		ch.fact.Text = ch.put(&next.Text, in.Text)
		ch.fact.Category = ch.put(&next.Category, in.Category)
		ch.fact.Tags = ch.putTags(&next.Tags, in.Tags)
		return ch
	}
	next := *e.note
	ch.next.note = &next
	ch.note.Title = ch.put(&next.Title, in.Title)
	ch.note.Body = ch.put(&next.Body, in.Body)
	ch.note.Tags = ch.putTags(&next.Tags, in.Tags)
	return ch
}

// put sets a field that is given and another, and returns it as an edit does.
func (ch *change) put(field *string, to string) *string {
	if to == "" || to == *field {
		return nil
	}
	*field, ch.differs = to, true
	return &to
}

func (ch *change) putTags(field *[]string, to []string) *[]string {
	if len(to) == 0 || slices.Equal(to, *field) {
		return nil
	}
	*field, ch.differs = to, true
	return &to
}

// check refuses what does not fit the kind of e, and what is too long or secret.
func (in updateIn) check(e entry) error {
	switch {
	case in.Text+in.Category+in.Title+in.Body == "" && len(in.Tags) == 0:
		return fmt.Errorf("nothing to change is given; %s takes text, category and tags for a fact, and title, body and tags for a note", UpdateTool)
	case e.fact != nil && in.Title+in.Body != "":
		return fmt.Errorf("%s is a fact: it has a text, a category and tags, and no title or body", e.id())
	case e.note != nil && in.Text+in.Category != "":
		return fmt.Errorf("%s is a note: it has a title, a body and tags, and no text or category", e.id())
	}
	layer, content := layerFact, in.Text
	if e.note != nil {
		layer, content = layerNote, in.Body
	}
	return saveIn{Content: content, Title: in.Title, Category: in.Category, Tags: in.Tags}.fits(layer)
}

func (m memory) update(ctx context.Context, c tool.Call, in updateIn) (string, error) {
	ch, err := m.plan(ctx, in)
	if err != nil {
		return "", err
	}
	if !ch.differs {
		// Said before the version agreed to is looked at: an update that began
		// and was not seen to end has changed it.
		return "It is so already: " + ch.was.line(), nil
	}
	if err := ch.was.unchanged(c); err != nil {
		return "", err
	}
	if f := ch.was.fact; f != nil && m.suggests(c) {
		return m.suggest(ctx, c, harness.Suggestion{
			Kind: harness.SuggestChange, Fact: f.ID, Revision: f.Revision, Text: in.Text, Category: in.Category, Tags: in.Tags, Why: in.Why,
		})
	}
	var now entry
	if ch.was.fact != nil {
		var f harness.Fact
		f, err = m.facts.Edit(ctx, ch.was.id(), ch.fact)
		now.fact = &f
	} else {
		var n harness.Note
		n, err = m.notes.Edit(ctx, ch.was.id(), ch.note)
		now.note = &n
	}
	if err != nil {
		return "", fmt.Errorf("update %s: %w", ch.was.id(), err)
	}
	return fmt.Sprintf("%s%s\n"+versionWords+"; before it was: %s)", Updated, now.line(), now.revision(), ch.was.line()), nil
}

// versionWords begin the second line of the result of an update.
const versionWords = "(version %d"

// Version returns the number of the version that an update made, from the
// second line of its result.
func Version(line string) (n int, ok bool) {
	_, err := fmt.Sscanf(line, versionWords, &n)
	return n, err == nil
}

func (m memory) forget(ctx context.Context, c tool.Call, in forgetIn) (string, error) {
	e, err := m.find(ctx, in.ID)
	switch {
	case err != nil:
		return "", err
	case e.trashed():
		return "It is forgotten already: " + e.line(), nil
	}
	if err := e.unchanged(c); err != nil {
		return "", err
	}
	if e.fact != nil && m.suggests(c) {
		return m.suggest(ctx, c, harness.Suggestion{Kind: harness.SuggestRetire, Fact: e.fact.ID, Revision: e.fact.Revision, Why: in.Why})
	}
	if e.fact != nil {
		err = m.facts.Forget(ctx, e.id())
	} else {
		err = m.notes.Forget(ctx, e.id())
	}
	if err != nil {
		return "", fmt.Errorf("forget %s: %w", e.id(), err)
	}
	return fmt.Sprintf("%s%s\n(It is in the trash: the user can bring it back for %d days, in the memory browser.)", Forgotten, e.line(), DaysKept), nil
}

// proposeUpdate shows what would change.
func (m memory) proposeUpdate(ctx context.Context, in updateIn) (harness.Proposal, error) {
	ch, err := m.plan(ctx, in)
	if err != nil {
		return harness.Proposal{}, err
	}
	name, was, now := ch.was.id(), ch.was.whole(), ch.next.whole()
	u, err := udiff.ToUnifiedDiff(name, name, was, udiff.Lines(was, now), udiff.DefaultContextLines)
	if err != nil {
		return harness.Proposal{}, fmt.Errorf("compare the versions of %s: %w", name, err)
	}
	p := harness.Proposal{
		Kind: harness.ProposalEdit, Subject: ch.was.subject(), Diff: u.String(), Why: in.Why, State: ch.was.state(),
	}
	for _, h := range u.Hunks {
		for _, l := range h.Lines {
			switch l.Kind {
			case udiff.Insert:
				p.Added++
			case udiff.Delete:
				p.Removed++
			case udiff.Equal:
			}
		}
	}
	return p, nil
}

// proposeForget shows what would be forgotten.
func (m memory) proposeForget(ctx context.Context, in forgetIn) (harness.Proposal, error) {
	e, err := m.find(ctx, in.ID)
	if err != nil {
		return harness.Proposal{}, err
	}
	return harness.Proposal{
		Kind: harness.ProposalCall, Subject: e.subject(), Body: e.id() + "\n" + e.whole(), Why: in.Why, State: e.state(),
		About: []string{fmt.Sprintf("to the trash, kept %d days", DaysKept)},
	}, nil
}

// proposing reads the arguments for a proposal.
func proposing[In any](of func(context.Context, In) (harness.Proposal, error)) func(context.Context, tool.Call) (harness.Proposal, error) {
	return func(ctx context.Context, c tool.Call) (harness.Proposal, error) {
		var in In
		if err := json.Unmarshal(c.Input, &in); err != nil {
			return harness.Proposal{}, fmt.Errorf("the arguments cannot be read: %w", err)
		}
		return of(ctx, in)
	}
}
