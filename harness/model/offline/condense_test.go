package offline_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/harness/memory/condense"
	"cairn/harness/model"
	"cairn/harness/model/offline"
)

// condensed asks for a note on a history.
func condensed(t *testing.T, doc string, most int) string {
	t.Helper()
	reply, _ := askModel(t, model.Request{System: "Write the note.", Purpose: model.PurposeCondense, Key: "s1", MaxOutput: most, Messages: user(doc)})
	if reply.Stop != harness.StopEnd || !reply.Usage.CostKnown || reply.Usage.Cost != 0 {
		t.Errorf("stop %s, usage %+v", reply.Stop, reply.Usage)
	}
	return harness.Message{Parts: reply.Parts}.Text()
}

const header = "Extract, made without a language model: the first sentence of each message.\n"

func TestANoteHasTheFirstSentenceOfEachMessage(t *testing.T) {
	t.Parallel()
	history := `<history>
<message from="user">
The staging port is 8443. Please do not change it.
</message>
<message from="assistant">
` + "```\nx := 1\n```" + `
</message>
<message from="assistant">
called run_command with {"command":"ls"}
</message>
<message from="tool">
result of run_command: README.md go.mod
</message>
<message from="program">
go on
</message>
<message from="user">
港は 8443 です。変えないで。
</message>
</history>

Write the note now, in at most 600 words.`
	want := header + `- user: The staging port is 8443.
- assistant: x := 1
- assistant: called run_command with {"command":"ls"}
- tool: result of run_command: README.md go.mod
- user: 港は 8443 です。`
	if got := condensed(t, history, 2000); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if again := condensed(t, history, 2000); again != want {
		t.Error("the same request gets another note")
	}
	// The note so far comes first, and is not extracted again.
	rolled := condensed(t, "<note>\n"+want+"\n</note>\n\n<history>\n<message from=\"user\">\nAnd now?\n</message>\n</history>\n", 2000)
	if rolled != want+"\n- user: And now?" {
		t.Errorf("rolled\n%s", rolled)
	}
	for _, nothing := range []string{"", "<history>\n</history>", "<history>\n<message from=\"user\">\n...\n</message>\n</history>", "<history>", "no marks at all"} {
		if got := condensed(t, nothing, 0); got != "" {
			t.Errorf("%q gives %q", nothing, got)
		}
	}
}

func TestANoteKeepsWhatIsNeededMost(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("<history>\n")
	for i := range 200 {
		fmt.Fprintf(&b, "<message from=\"user\">\nquestion %d about things\n</message>\n<message from=\"assistant\">\nanswer %d about things\n</message>\n<message from=\"tool\">\nresult of now: %d\n</message>\n", i, i, i)
		if i == 30 {
			b.WriteString("<message from=\"assistant\">\nThe harbour is closed.\n</message>\n")
		}
	}
	b.WriteString("</history>\n\n<focus>\nkeep what was said of the Harbour\n</focus>\n\nWrite the note now.")
	got := condensed(t, b.String(), 1000)
	if len(got) > 2000 {
		t.Errorf("%d bytes", len(got))
	}
	for _, want := range []string{"- user: question 0 about", "The harbour is closed.", "- user: question 199 about", "lines are left out here)"} {
		if !strings.Contains(got, want) {
			t.Errorf("it lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "- tool: ") || strings.Contains(got, "answer 5 ") || strings.Contains(got, "question 9 ") {
		t.Errorf("less needed lines stayed:\n%s", got)
	}
	// However small the room, nothing is cut in the middle of a line.
	if got := condensed(t, b.String(), 120); !strings.HasPrefix(got, header+"- user: question 0 about things\n") || !strings.Contains(got, "harbour") {
		t.Errorf("got\n%s", got)
	}
}

// The whole way: a conversation is condensed again and again without a key.
func TestConversationsAreCondensedWithoutAModel(t *testing.T) {
	t.Parallel()
	info := offline.Info()
	info.Window = 8_000
	in := memory.In{Session: "s1", Info: info, Turn: []harness.Message{harness.UserText("now")}, TurnRecords: []int{1}}
	add := func(m harness.Message) {
		in.History = append(in.History, harness.Record{Seq: len(in.History) + 1, Prev: len(in.History), Kind: harness.RecordMessage, Message: &m})
	}
	for i := range 100 {
		add(harness.UserText(fmt.Sprintf("Step %d matters. %s", i, strings.Repeat("It goes on and on. ", 15))))
		add(harness.AssistantText(fmt.Sprintf("Done with step %d. %s", i, strings.Repeat("As was said before. ", 15))))
	}
	in.TurnRecords[0] = len(in.History) + 1
	steps := 0
	for more := true; more; steps++ {
		s, err := condense.Next(t.Context(), in, condense.Options{Model: offline.Model{}, Info: info, Asked: true})
		if errors.Is(err, condense.ErrNothing) {
			break
		}
		if err != nil || steps > 20 {
			t.Fatalf("step %d: %v", steps, err)
		}
		if !strings.HasPrefix(s.Condensed.Note, strings.TrimSpace(header)) || s.Condensed.Model != offline.ID || s.Fruitless {
			t.Fatalf("step %d: %+v", steps, s)
		}
		in.Condensed, more = &s.Condensed, s.More
	}
	note := in.Condensed.Note
	if steps < 2 || !strings.Contains(note, "- user: Step 0 matters.") || in.Condensed.After >= in.Condensed.Before {
		t.Errorf("after %d steps:\n%s", steps, note)
	}
}

func FuzzCondense(f *testing.F) {
	f.Add("<note>\na\n</note>\n<history>\n<message from=\"user\">\nx. y\n</message>\n</history>\n<focus>\nx\n</focus>", 10)
	f.Add("<history>\n<message from=\"\">\n</message></history>", 0)
	f.Add("<message from=\"user\">\n\xff。</message>", -1)
	f.Fuzz(func(t *testing.T, doc string, most int) {
		reply, err := offline.Model{}.Stream(t.Context(), model.Request{Purpose: model.PurposeCondense, MaxOutput: most, Messages: user(doc)}, func(model.Delta) {})
		if err != nil {
			t.Fatal(err)
		}
		text := harness.Message{Parts: reply.Parts}.Text()
		if utf8.ValidString(doc) && !utf8.ValidString(text) {
			t.Fatalf("%q gives %q", doc, text)
		}
	})
}
