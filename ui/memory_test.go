package ui_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/uitest"
)

func TestTheMemoryBrowserOpensAtTheSourceOfAFact(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		var texts []string
		for i := range 300 {
			texts = append(texts, fmt.Sprintf("message number %d", i))
		}
		w.Tell("old", "Old talk", time.Now(), texts...)
		if _, _, err := w.Store.Facts().Save(t.Context(), harness.Fact{
			Text: "the sky is green", By: harness.ByYou, State: harness.StateActive, Session: "old",
			Source: harness.Source{Session: "old", Message: 42, Quote: "message number 41"},
		}, ""); err != nil {
			t.Fatal(err)
		}
		d := w.Open("talk", 80, 24)
		d.Type("draft").Press("ctrl+x", "f").Shows("the sky is green").Press("esc").Shows("> draft")
		d.Press("ctrl+u").Type("/memory").Press("enter").Press("enter").Wait(time.Second)
		d.Shows("message number 41", "message number 42", "End to follow", "^X f goes back to the memory")
		d.Press("end").Shows("message number 299")
		d.Press("ctrl+x", "f").Shows("> f1   the sky is green")
	})
}

func TestASourceThatIsNoLongerThereSaysSo(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("old", "Old talk", time.Now(), "hello", "hi")
		for _, f := range []harness.Fact{
			{Text: "beyond", Source: harness.Source{Session: "old", Message: 77}},
			{Text: "deleted", Source: harness.Source{Session: "lost", Message: 1}},
		} {
			if _, _, err := w.Store.Facts().Save(t.Context(), f, ""); err != nil {
				t.Fatal(err)
			}
		}
		d := w.Open("talk", 80, 24)
		d.Type("/facts").Press("enter").Type("/beyond").Press("enter", "enter").Wait(time.Second)
		d.Shows("Old talk", "hello", "message 77 is not in this conversation")
		d.Press("ctrl+x", "f").Shows("search: beyond").Type("x/deleted").Press("enter", "enter").Wait(time.Second)
		d.Shows("The chat it comes from is in the trash.", "> f2   deleted")
		d.Press("esc").Shows("Old talk")
	})
}

func TestWhatAnAnswerUsedIsShownAndOpened(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		for _, text := range []string{"one", "two", "three"} {
			if _, _, err := w.Store.Facts().Save(t.Context(), harness.Fact{Text: text}, ""); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Store.Notes().Save(t.Context(), harness.Note{Title: "a note"}, ""); err != nil {
			t.Fatal(err)
		}
		tell(w, "talk", []string{"f3", "f1"}, []string{"n1"}, nil)
		d := w.Open("talk", 80, 30)
		d.Shows("cairn · 00:00 · used 2 facts", "cairn · 00:00 · used 1 note")
		d.Press("ctrl+o").Shows("▾ used 2 facts: f3 f1 · ctrl+x i shows them", "▾ used 1 note: n1")
		d.Press("ctrl+x", "i").Shows("used 1 note in an answer", "[2 Notes 1/1]", "a note").Press("esc").Hides("Memory")
		d = w.Open("empty", 40, 10)
		d.Press("ctrl+x", "i").Shows("no answer here used facts or notes")
	})
}

func TestTheAnswerOnScreenIsTheOneWhoseMemoryIsOpened(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		for _, text := range []string{"one", "two", "three"} {
			if _, _, err := w.Store.Facts().Save(t.Context(), harness.Fact{Text: text}, ""); err != nil {
				t.Fatal(err)
			}
		}
		used := make([][]string, 40)
		used[0], used[39] = []string{"f3", "f1"}, []string{"f2"}
		tell(w, "talk", used...)
		d := w.Open("talk", 80, 24)
		d.Press("ctrl+x", "i").Shows("used 1 fact in an answer", "[1 Facts 1/3]", "> f2   two").Press("esc")
		d.Press("home").Wait(time.Second).Press("ctrl+x", "i").Shows("[1 Facts 2/3]", "> f3   three", "  f1   one", "best match first")
		d.Press("x").Shows("[1 Facts 3]")
	})
}

// tell stores a conversation of short answers that used these facts and notes.
func tell(w *uitest.World, id harness.SessionID, used ...[]string) {
	at := time.Now()
	var records []harness.Record
	add := func(m harness.Message) {
		records = append(records, harness.Record{Kind: harness.RecordMessage, Message: &m, At: at, Run: harness.RunID(fmt.Sprint("r", len(records)))})
	}
	for i, ids := range used {
		add(harness.UserText(fmt.Sprintf("question %d", i)))
		answer := harness.AssistantText(fmt.Sprintf("answer %d", i))
		answer.Used, answer.Model = ids, "test/parrot"
		answer.Usage = &harness.Usage{Input: 12_345, Output: 67, CacheRead: 1_000, Reasoning: 5}
		add(answer)
	}
	w.Import(harness.Session{ID: id, Title: "Talk", TitleBy: harness.TitleByUser, Created: at, Updated: at}, records)
}

func TestForgetNeverGuessesAndIsUndone(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		facts := w.Store.Facts()
		for _, text := range []string{"tests are \x1b[2Jtables", "tests are quick", "the sky is green"} {
			if _, _, err := facts.Save(t.Context(), harness.Fact{Text: text}, ""); err != nil {
				t.Fatal(err)
			}
		}
		state := func(id string, want harness.FactState) {
			t.Helper()
			if f, err := facts.Get(t.Context(), id); err != nil || f.State != want {
				t.Errorf("%s is %s, %v", id, f.State, err)
			}
		}
		d := w.Open("talk", 120, 40)
		d.Type("/forget green sky").Press("enter").Shows("forgot f3: the sky is green", "brings it back")
		state("f3", harness.StateTrashed)
		d.Press("ctrl+_").Shows("f3 is remembered again")
		state("f3", harness.StateActive)
		d.Type("/forget f1").Press("enter").Shows("forgot f1: tests are ␛[2Jtables").Press("ctrl+_")
		d.Type("/forget tests").Press("enter").Shows("Which one? None is forgotten yet.", "[1 Facts 2/3]", `"tests"`)
		state("f1", harness.StateActive)
		state("f2", harness.StateActive)
		d.Press("d").Shows("Forgot f").Press("u").Shows("is back").Press("esc")
		d.Type("/forget f3").Press("enter").Type("/forget f3").Press("enter").Shows(`nothing remembered says "f3"`)
		d.Type("/forget").Press("enter").Shows("write words of the fact after it")
	})
}

func TestForgetFindsNotesToo(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		for _, title := range []string{"Kettle manual", "Green paint"} {
			if _, err := w.Store.Notes().Save(t.Context(), harness.Note{Title: title, Body: "Long."}, ""); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := w.Store.Facts().Save(t.Context(), harness.Fact{Text: "the sky is green"}, ""); err != nil {
			t.Fatal(err)
		}
		state := func(id string, want harness.FactState) {
			t.Helper()
			if n, err := w.Store.Notes().Get(t.Context(), id); err != nil || n.State != want {
				t.Errorf("%s is %s, %v", id, n.State, err)
			}
		}
		d := w.Open("talk", 80, 24)
		d.Type("/forget kettle").Press("enter").Shows("forgot n1: Kettle manual", "brings it back")
		state("n1", harness.StateTrashed)
		d.Press("ctrl+_").Shows("n1 is remembered again")
		state("n1", harness.StateActive)
		d.Type("/forget green").Press("enter").Shows("Which one? None is forgotten yet.").Press("esc")
		state("n2", harness.StateActive)
		d.Type("/forget n2").Press("enter").Shows("forgot n2: Green paint")
		d.Type("/forget n2").Press("enter").Shows(`nothing remembered says "n2"`)
	})
}

func TestRememberAloneOffersTheLastMessage(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "I live in Porto", "How nice.")
		d := w.Open("talk", 80, 24)
		d.Type("/remember").Press("enter").Shows("> /remember I live in Porto", "enter saves it")
		d.Type(" since May").Press("enter").Shows("remembered f1")
		f, err := w.Store.Facts().Get(t.Context(), "f1")
		if want := (harness.Source{Session: "talk", Message: 1, Quote: "I live in Porto"}); err != nil || f.Text != "I live in Porto since May" || f.Source != want {
			t.Errorf("saved %+v, %v", f, err)
		}
		d.Type("/remember").Press("enter", "ctrl+c").Type("/remember the sky is green").Press("enter").Shows("remembered f2")
		if f, err := w.Store.Facts().Get(t.Context(), "f2"); err != nil || f.Source.Quote != "" {
			t.Errorf("saved %+v, %v", f, err)
		}
		d.Type("/remember").Press("enter").Shows("tab takes the answer").Press("tab").Shows("> /remember How nice.", "the last answer", "tab takes your message")
		d.Press("tab").Shows("> /remember I live in Porto").Press("tab").Press("enter").Shows("remembered f3")
		if f, err := w.Store.Facts().Get(t.Context(), "f3"); err != nil || f.Text != "How nice." || f.Source.Message != 2 {
			t.Errorf("saved %+v, %v", f, err)
		}
		d.Type("/remember").Press("enter").Type("!").Press("tab").Shows("> /remember I live in Porto!")
		d = w.Open("empty", 80, 24)
		d.Type("/remember").Press("enter").Shows("write the fact after it")
	})
}

func TestFactsAndNotesOpenTheirTabs(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 80, 24)
		d.Type("/notes").Press("enter").Shows("[2 Notes 0]").Press("esc")
		d.Type("/facts").Press("enter").Shows("[1 Facts 0]").Press("esc")
	})
}

func TestTheContextIsWhatTheLastAnswerRecorded(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		tell(w, "talk", nil, []string{"f1", "n2"})
		w.Window = 128_000
		d := w.Open("talk", 80, 24)
		d.Type("/context").Press("enter")
		d.Shows("model      test/parrot", "sent       12,345 tokens, 9% of the window of 128,000", "cache      1,000 tokens read, 0 written",
			"reply      67 tokens, 5 of them reasoning", "remembered f1 n2", "system     the default prompt, for the next one", "session    4 messages, all branches", "ctrl+x i shows what the answer on screen used")
		d = w.Open("empty", 40, 10)
		d.Type("/context").Press("enter").Shows("no request was sent in this chat yet")
	})
}

// slowFacts take a second for each list.
type slowFacts struct{ harness.Facts }

func (f slowFacts) List(ctx context.Context, filter harness.MemoryFilter) ([]harness.Fact, error) {
	time.Sleep(time.Second) // in the clock of the test
	return f.Facts.List(ctx, filter)
}

func TestWhatForgetFindsLateDoesNotTakeTheScreen(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		for _, text := range []string{"tests are tables", "tests are quick"} {
			if _, _, err := w.Store.Facts().Save(t.Context(), harness.Fact{Text: text}, ""); err != nil {
				t.Fatal(err)
			}
		}
		deps := w.Deps("talk", true)
		deps.Facts = slowFacts{deps.Facts}
		d := w.Start(deps, 80, 24)
		d.Type("/forget tests").Press("enter", "ctrl+s").Wait(2 * time.Second).Shows("Sessions").Hides("Memory")
		d.Press("esc").Shows("Which one? None is forgotten yet.")
	})
}
