package browser

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/uitest/stored"
)

// put files a suggestion, some days ago.
func (m *memory) put(tb testing.TB, days int, s harness.Suggestion) harness.Suggestion {
	tb.Helper()
	m.now = today.AddDate(0, 0, -days)
	defer func() { m.now = today }()
	if s.By == "" {
		s.By = harness.ByDistilled
	}
	s, filed, err := m.inbox.Put(tb.Context(), s, "")
	if err != nil || !filed {
		tb.Fatalf("filed %t, %v", filed, err)
	}
	return s
}

// suggested is the sample with suggestions of each kind: i1 adds, i2 adds what
// f6 contradicts, i3 changes f4, i4 retires f1, i5 is hostile, and i6 is about a
// version of f5 that is no longer the present one.
func suggested(tb testing.TB) *memory {
	tb.Helper()
	m := sample(tb)
	vat := harness.Source{Session: "vat", Message: 14, Quote: "from now on we ask everybody\nfor a VAT id"}
	m.put(tb, 6, harness.Suggestion{Kind: harness.SuggestAdd, Text: "Deploys on Thursdays only", Category: "work", Tags: []string{"deploy"}, Why: "You said when you deploy.", Own: true, Source: harness.Source{Session: "vat", Message: 2, Quote: "we deploy on thursdays, never else"}})
	m.put(tb, 5, harness.Suggestion{Kind: harness.SuggestAdd, Text: "VAT id is asked of every customer", Category: "billing", Against: []string{"f6"}, Why: "The rule was changed in this chat.", Source: vat})
	m.put(tb, 4, harness.Suggestion{Kind: harness.SuggestChange, Fact: "f4", Text: "Prefers table-driven tests with named cases", Category: "testing", Why: "You asked for names.", Source: vat})
	m.put(tb, 3, harness.Suggestion{Kind: harness.SuggestRetire, Fact: "f1", Why: "Books are at 5% now.", Source: vat, By: harness.ByModel})
	m.put(tb, 2, harness.Suggestion{Kind: harness.SuggestAdd, Text: "a\x1b[2Jb\u202ec\nd\u009be 会議は毎週火曜日👩‍👩‍👧 " + strings.Repeat("very long ", 3000), Category: "x\x1b]0;t\x07", Tags: []string{"\u202etag"}, Why: "w\x1b[2J\u009b", Source: harness.Source{Session: "vat", Quote: "q\x1b[2J\r\u202e"}})
	m.put(tb, 1, harness.Suggestion{Kind: harness.SuggestChange, Fact: "f5", Text: "会議は毎週水曜日の午前十時に始まります。", Why: "The day moved.", Source: vat})
	text := "会議は毎週木曜日です。"
	m.edit(tb, "f5", harness.FactEdit{Text: &text})
	return m
}

func TestGoldenInbox(t *testing.T) {
	t.Parallel()
	for _, size := range stored.Sizes() {
		w, h := size[0], size[1]
		t.Run(fmt.Sprintf("%dx%d", w, h), func(t *testing.T) {
			t.Parallel()
			s := open(t, suggested(t), w, h).golden("facts-suggested").keys("3").on("i1").golden("inbox-add")
			s.on("i2").golden("inbox-against").keys("v").golden("inbox-against-read")
			s.keys("esc").on("i3").golden("inbox-change").on("i4").golden("inbox-retire")
			s.on("i6").golden("inbox-stale").keys("A").golden("inbox-all")
			s.keys("esc").on("i3").keys("e").types(" only").golden("inbox-edit")
			s.keys("ctrl+s").golden("inbox-accepted")
			open(t, empty(), w, h).keys("3").golden("inbox-empty")
		})
	}
}

// waits are the ids of what the store has in its inbox.
func (m *memory) waits(tb testing.TB) string {
	tb.Helper()
	list, err := m.inbox.List(tb.Context(), harness.InboxFilter{})
	if err != nil {
		tb.Fatal(err)
	}
	var ids []string
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	return strings.Join(ids, " ")
}

func TestAnAdditionIsAcceptedAndTakenBack(t *testing.T) {
	t.Parallel()
	m := suggested(t)
	s := open(t, m, 80, 24).keys("3").on("i1").shows("add a fact", "your own words", "Deploys on Thursdays only", "we deploy on thursdays", "message 2 (enter: go there)")
	s.keys("a").shows(`Accepted i1 as f7. u undoes it: "Deploys on Thursdays only"`, "[3 Inbox 5]").lacks("i1   add")
	f := m.fact(t, "f7")
	if !f.Accepted || f.By != harness.ByDistilled || f.Category != "work" || f.Source.Message != 2 {
		t.Errorf("stored %+v", f)
	}
	if s.keys("u"); m.fact(t, "f7").State != harness.StateTrashed {
		t.Error("undo left the fact")
	}
	s.shows("Undone").keys("u").shows("There is nothing to undo.")
}

func TestAChangeIsShownAsADifferenceAndTakenBack(t *testing.T) {
	t.Parallel()
	m := suggested(t)
	s := open(t, m, 80, 24).keys("3").on("i3").shows("change f4", `Prefers table-driven tests{+ with named cases+}`, `category was "style"`, "why    You asked for names.")
	s.keys("a").shows("Accepted i3: f4 is v3 now. u undoes it")
	if got := m.fact(t, "f4"); got.Text != "Prefers table-driven tests with named cases" || got.Category != "testing" {
		t.Errorf("stored %+v", got)
	}
	s.keys("u").shows("Undone: i3 waits in the inbox again.", "[3 Inbox 6]").selectedIs("i3")
	if got := m.fact(t, "f4"); got.Text != "Prefers table-driven tests" || got.Category != "style" || !got.Pinned {
		t.Errorf("stored %+v", got)
	}
	s.lacks("can only be refused").keys("a").shows("Accepted i3: f4 is v5 now.")
}

func TestARetirementIsAcceptedAndTakenBack(t *testing.T) {
	t.Parallel()
	m := suggested(t)
	s := open(t, m, 80, 24).keys("3").on("i4").shows("retire f1", "by the model, asked", "but    Books are at 5% now.")
	s.keys("e").shows("It says nothing new that could be edited.")
	s.keys("a").shows("Accepted i4: f1 is in the trash.", "1 Facts 5")
	if m.fact(t, "f1").State != harness.StateTrashed {
		t.Error("it is still there")
	}
	s.keys("ctrl+_").shows("Undone: i4 waits in the inbox again.", "1 Facts 6").selectedIs("i4")
	if m.fact(t, "f1").State != harness.StateActive {
		t.Error("it did not come back")
	}
}

func TestARetiredFactWithATwinStaysInTheTrash(t *testing.T) {
	t.Parallel()
	m := suggested(t)
	s := open(t, m, 120, 40).keys("3").on("i4").keys("a")
	if _, _, err := m.facts.Save(t.Context(), harness.Fact{Text: "vat rate for books is 7%."}, ""); err != nil {
		t.Fatal(err)
	}
	s.keys("u").shows("f1 stays in the trash: f7 says the same now.", "i4 is not suggested again.")
}

func TestARefusalIsTakenBack(t *testing.T) {
	t.Parallel()
	m := suggested(t)
	s := open(t, m, 80, 24).keys("3").on("i2")
	s.send(keyMsg("d"))
	s.lacks("i2   add").settle()
	s.shows("Refused i2; it is not suggested again for 30 days. u brings it back.", "[3 Inbox 5]")
	if got := m.waits(t); got != "i1 i3 i4 i5 i6" {
		t.Errorf("waits %s", got)
	}
	s.keys("1", "u").shows("Undone: i2 waits in the inbox again.", "[3 Inbox 6]").selectedIs("i2")
}

func TestWhatContradictsAFactIsShownBesideItAndNeverReplacesItUnasked(t *testing.T) {
	t.Parallel()
	m := suggested(t)
	s := open(t, m, 80, 24).shows("contradicted", "6 proposed: press 3").on("f6").shows("contradicted by i2")
	s.keys("3").on("i2").shows("contradicts f6", "VAT id is optional for non-EU", "a accept, keep f6", "r accept, forget f6")
	s.keys("a").shows("Accepted i2 as f7.")
	if m.fact(t, "f6").State != harness.StateActive {
		t.Error("it was forgotten unasked")
	}
}

func TestWhatContradictsAFactReplacesItWhenAsked(t *testing.T) {
	t.Parallel()
	m := suggested(t)
	s := open(t, m, 120, 40).keys("3").on("i2").shows("suggested", "contradicts f6").keys("r")
	s.shows("Accepted i2 as f7, and forgot f6. u undoes it")
	if m.fact(t, "f6").State != harness.StateTrashed || m.fact(t, "f7").State != harness.StateActive {
		t.Error("it was not replaced")
	}
	s.keys("u")
	if m.fact(t, "f6").State != harness.StateActive || m.fact(t, "f7").State != harness.StateTrashed {
		t.Error("undo did not bring it back")
	}
	s.on("i1").keys("r").shows("Nothing stands against it.")
}

func TestAFactThatChangedMeanwhileIsNotForgottenForWhatContradictsIt(t *testing.T) {
	t.Parallel()
	m := suggested(t)
	s := open(t, m, 120, 40).keys("3").on("i2")
	text := "said elsewhere"
	m.edit(t, "f6", harness.FactEdit{Text: &text})
	s.keys("r").shows("Accepted i2 as f7. u undoes it. f6 is kept: undo f6: changed since")
	if m.fact(t, "f6").State != harness.StateActive {
		t.Error("it was forgotten")
	}
}

func TestAStaleSuggestionIsOnlyRefused(t *testing.T) {
	t.Parallel()
	m := suggested(t)
	s := open(t, m, 120, 40).keys("3").on("i6").shows("f5 was changed since this was suggested", "stale")
	for _, key := range []string{"a", "e", "r"} {
		s.keys(key).shows("Its fact was changed since this was suggested: it can only be refused.")
	}
	s.keys("d").shows("Refused i6")
}

func TestAllShownAreAcceptedOnceConfirmedAndUndoneTogether(t *testing.T) {
	t.Parallel()
	m := suggested(t)
	s := open(t, m, 80, 24).keys("3", "A").shows("y accepts 4 suggestions.", "Left out: 1 that contradict a fact, 1 whose fact was", "i3   change Prefers")
	s.keys("a", "enter").shows("y accepts 4").keys("esc").shows("Nothing was accepted.")
	if got := m.waits(t); got != "i1 i2 i3 i4 i5 i6" {
		t.Errorf("waits %s", got)
	}
	s.keys("A", "y").shows("Accepted 4. u undoes them all.", "[3 Inbox 2]")
	if got := m.waits(t); got != "i2 i6" {
		t.Errorf("waits %s", got)
	}
	s.keys("A").shows("Each of these is to be looked at")
	s.keys("u").shows("Undone")
	for id, want := range map[string]harness.FactState{"f1": harness.StateActive, "f4": harness.StateActive, "f7": harness.StateTrashed, "f8": harness.StateTrashed} {
		if got := m.fact(t, id); got.State != want {
			t.Errorf("%s is %s, want %s", id, got.State, want)
		}
	}
	if got := m.fact(t, "f4").Text; got != "Prefers table-driven tests" {
		t.Errorf("f4 says %q", got)
	}
}

func TestOnlyWhatTheFilterShowsIsAcceptedTogether(t *testing.T) {
	t.Parallel()
	m := suggested(t)
	s := open(t, m, 80, 24).keys("3", "/").types("named cases").keys("enter").shows("1 of 6").keys("A").shows("y accepts 1 suggestion.").keys("y")
	s.shows("Accepted i3")
	if got := m.waits(t); got != "i1 i2 i4 i5 i6" {
		t.Errorf("waits %s", got)
	}
}

func TestASuggestionIsEditedAndAccepted(t *testing.T) {
	t.Parallel()
	m := suggested(t)
	s := open(t, m, 80, 24).keys("3").on("i1").keys("e").shows("Accept i1, edited", "Deploys on Thursdays only", "category work", "^S accept")
	s.types(", at noon").keys("esc").shows("Not saved. e brings your text back.", "draft").keys("e").shows("only, at noon", "was text")
	s.keys("tab", "tab").types(" eu").keys("ctrl+s").shows("Accepted i1 as f7.").lacks("unsaved draft")
	if got := m.fact(t, "f7"); got.Text != "Deploys on Thursdays only, at noon" || !slices.Equal(got.Tags, []string{"deploy", "eu"}) || !got.Accepted {
		t.Errorf("stored %+v", got)
	}
	s.keys("u").shows("Undone: i1 waits in the inbox again.")
}

func TestASuggestionThatAnotherWindowDecidedSaysSo(t *testing.T) {
	t.Parallel()
	m := suggested(t)
	s := open(t, m, 80, 24).keys("3").on("i1")
	if err := m.inbox.Refuse(t.Context(), "i1"); err != nil {
		t.Fatal(err)
	}
	s.keys("a").shows("i1 no longer waits: it was decided in another window", "[3 Inbox 5]")
	s.on("i3")
	if _, err := m.inbox.Accept(t.Context(), "i3", harness.FactEdit{}); err != nil {
		t.Fatal(err)
	}
	s.keys("d").shows("i3 no longer waits").keys("u").shows("There is nothing to undo.")
	s.on("i4")
	text := "VAT rate for books is 5%"
	m.edit(t, "f1", harness.FactEdit{Text: &text})
	s.keys("a").shows("Not accepted: the fact was changed since i4 was suggested.", "stale")
}

func TestAnEditedSuggestionThatIsGoneIsNotLost(t *testing.T) {
	t.Parallel()
	m := suggested(t)
	s := open(t, m, 80, 24).keys("3").on("i1").keys("e").types("!")
	if err := m.inbox.Refuse(t.Context(), "i1"); err != nil {
		t.Fatal(err)
	}
	s.keys("ctrl+s").shows("i1 was decided in another window. ^S again saves this as a new fact.", "Thursdays only!")
	s.keys("ctrl+s").shows("Saved f7.")
	s.keys("3").on("i3").keys("e").types("!")
	text := "Prefers no tests"
	m.edit(t, "f4", harness.FactEdit{Text: &text})
	s.keys("ctrl+s").shows("^S again saves this as an edit of f4.", "named cases!").keys("ctrl+s").shows("Changed elsewhere").keys("ctrl+s").shows("Saved f4 as v4.")
	if got := m.fact(t, "f4"); got.Text != "Prefers table-driven tests with named cases!" || got.Category != "testing" {
		t.Errorf("stored %+v", got)
	}
}

func TestADecisionThatFailsPutsTheSuggestionBack(t *testing.T) {
	t.Parallel()
	m := suggested(t)
	s := open(t, m, 80, 24).keys("3").on("i1")
	for _, key := range []string{"a", "d"} {
		m.fail = errors.New("the disk is full")
		s.keys(key).shows("the disk is full", "[3 Inbox 6]").selectedIs("i1")
	}
	s.keys("u").shows("There is nothing to undo.").keys("d")
	m.fail = errors.New("the disk is full")
	s.keys("u").shows("the disk is full").keys("u").shows("Undone: i1 waits in the inbox again.")
}

func TestAnUndoPressedBeforeTheStoreDecidedUndoesNothingElse(t *testing.T) {
	t.Parallel()
	m := suggested(t)
	s := open(t, m, 80, 24).on("f6").keys("p", "3").on("i1")
	s.send(keyMsg("a"))
	s.send(keyMsg("u"))
	s.shows("The last decision is still being stored.").settle()
	if !m.fact(t, "f6").Pinned {
		t.Error("an earlier change was undone")
	}
}

func TestAnUndoOfADecisionNeverTakesBackWhatSomebodyElseDid(t *testing.T) {
	t.Parallel()
	m := suggested(t)
	s := open(t, m, 80, 24).keys("3").on("i3").keys("a")
	text := "said elsewhere"
	m.edit(t, "f4", harness.FactEdit{Text: &text})
	s.keys("u").shows("f4 was changed since and stays.")
	if got := m.fact(t, "f4").Text; got != text {
		t.Errorf("f4 says %q", got)
	}
}

func TestTheInboxGoesToTheSourceAndComesBack(t *testing.T) {
	t.Parallel()
	s := open(t, suggested(t), 80, 24).keys("3").on("i2").keys("enter")
	if s.last != (Open{Session: "vat", Message: 14}) {
		t.Fatalf("enter gives %#v", s.last)
	}
	s.reopen().selectedIs("i2").shows("[3 Inbox 6]")
}

func TestKeysOfFactsDoNothingInTheInbox(t *testing.T) {
	t.Parallel()
	m := suggested(t)
	s := open(t, m, 80, 24).keys("3").on("i3")
	for _, key := range []string{"p", "o", "m", "h"} {
		s.keys(key).shows("It is accepted or refused first.")
	}
	s.keys("1", "a").shows("Only what is suggested is decided: 3 shows it.")
	if got := m.waits(t); got != "i1 i2 i3 i4 i5 i6" {
		t.Errorf("waits %s", got)
	}
}

func TestTheInboxIsSearchedAndNarrowed(t *testing.T) {
	t.Parallel()
	s := open(t, suggested(t), 80, 24).keys("3", "/").types("retire").keys("enter").shows("1 of 6").selectedIs("i4")
	s.keys("x", "c").shows("Categories", "billing").keys("esc", "s").shows("Sorted: by category.").keys("s").shows("Sorted: newest first.")
	if got := s.rows(); got != "i6 i5 i4 i3 i2 i1" {
		t.Errorf("shows %s", got)
	}
	s.shown(s.Only("here", []string{"f1"}, "used in an answer", ""))
	s.shows("[1 Facts 1/6]", "3 Inbox 6 ")
}

func TestTheTabsAreNamedInEveryWidth(t *testing.T) {
	t.Parallel()
	m := suggested(t)
	for width := 20; width <= 80; width++ {
		s := open(t, m, width, 10).keys("3")
		if head, _, _ := strings.Cut(s.view(), "\n"); strings.Contains(head, "%!") || !strings.Contains(head, "I") {
			t.Errorf("at %d cells the tabs are %q", width, head)
		}
	}
	open(t, m, 22, 10).keys("3").shows("[I 6]")
}

func TestTheInboxOpensInFrontAndFollowsTheStore(t *testing.T) {
	t.Parallel()
	m := suggested(t)
	s := open(t, m, 80, 24)
	s.shown(s.OpenInbox("here"))
	s.shows("[3 Inbox 6]")
	s.shown(s.Inspect("here", "i2"))
	s.selectedIs("i2").keys("1")
	m.put(t, 0, harness.Suggestion{Kind: harness.SuggestAdd, Text: "one more"})
	s.send(Changed{})
	s.settle()
	s.shows("[1 Facts 6]", "3 Inbox 7", "7 proposed: press 3")
}

func TestWithoutAnInboxThereIsNoTabOfIt(t *testing.T) {
	t.Parallel()
	m := suggested(t)
	s := open(t, m, 80, 24)
	s.c.Inbox = nil
	s.reopen().lacks("Inbox", "proposed").keys("3").shows("There is no inbox here.", "[1 Facts 6]")
	s.keys("2", "tab").shows("[4 Trash").keys("shift+tab").shows("[2 Notes")
	s.shown(s.OpenInbox("here"))
	s.shows("[1 Facts 6]")
}

func TestResizingKeepsWhatIsConfirmedAndRead(t *testing.T) {
	t.Parallel()
	s := open(t, suggested(t), 120, 40).keys("3").on("i5").keys("v").shows("Suggestion i5")
	s.send(tea.WindowSizeMsg{Width: 40, Height: 10})
	s.shows("Suggestion i5").keys("esc", "A")
	s.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	s.shows("y accepts 4 suggestions.").keys("y").shows("Accepted 4.")
}

func TestASuggestionIsEditedOutside(t *testing.T) {
	t.Parallel()
	m := suggested(t)
	s := open(t, m, 80, 24).keys("3").on("i3").keys("E")
	edit, ok := s.last.(Edit)
	if !ok || edit.Text != "Prefers table-driven tests with named cases" || edit.Name != "i3.md" {
		t.Fatalf("E gives %#v", s.last)
	}
	s.send(edit.Done("Prefers tables\n", nil))
	s.keys("ctrl+s").shows("Accepted i3: f4 is v3 now.")
	if got := m.fact(t, "f4"); got.Text != "Prefers tables" || got.Category != "testing" {
		t.Errorf("stored %+v", got)
	}
}

func TestAnEditThatMakesASuggestionTheSameAsAFactAddsNothing(t *testing.T) {
	t.Parallel()
	m := suggested(t)
	s := open(t, m, 80, 24).keys("3").on("i1").keys("e")
	s.form.boxes[factText].field = s.form.boxes[factText].field.Replace("VAT rate for books is 7%")
	s.keys("ctrl+s").shows("Accepted i1: f1 says this already.").keys("u").shows("Undone: i1 waits in the inbox again.")
	if got := m.fact(t, "f1"); got.State != harness.StateActive {
		t.Errorf("undo made f1 %s", got.State)
	}
}

func TestOfManyDecisionsThoseThatFailAreCounted(t *testing.T) {
	t.Parallel()
	m := suggested(t)
	s := open(t, m, 80, 24).keys("3", "A")
	if err := m.inbox.Refuse(t.Context(), "i4"); err != nil {
		t.Fatal(err)
	}
	s.keys("y").shows("Accepted 3, u undoes them; 1 not: accept i4", "[3 Inbox 2]")
	m.fail = errors.New("the disk is full")
	s.keys("u").shows("the disk is full").keys("u").shows("Undone")
	if got := m.fact(t, "f4").Text; got != "Prefers table-driven tests" {
		t.Errorf("f4 says %q", got)
	}
	s.keys("u").shows("There is nothing to undo.")
}

func TestHostileTextIsReadInFull(t *testing.T) {
	t.Parallel()
	open(t, suggested(t), 80, 24).keys("3").on("i5").shows("v: all").keys("v", "end").shows("w␛[2J⟨U+009B⟩").lacks("\u202e", "\x1b")
}
