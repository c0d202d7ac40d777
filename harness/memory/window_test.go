package memory

import (
	"fmt"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/model"
)

// history is n turns: a question, three parallel calls, their results, an answer.
func history(n int) []harness.Message {
	var msgs []harness.Message
	for i := range n {
		a, b, c := fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i), fmt.Sprintf("c%d", i)
		msgs = append(msgs, user(fmt.Sprint("question ", i)), calls(a, b, c), results(a, "1", b, "2", c, "3"), assistant(fmt.Sprint("answer ", i)))
	}
	return msgs
}

func TestWindowCutsBeforeAUserMessageAtEveryBudget(t *testing.T) {
	t.Parallel()
	msgs := history(8)
	before := 0
	for budget := range 1_000 {
		kept := Window(msgs, budget)
		if kept < 4 || kept < before {
			t.Fatalf("budget %d keeps %d messages after %d", budget, kept, before)
		}
		before = kept
		tail := msgs[len(msgs)-kept:]
		if tail[0].Role != harness.RoleUser {
			t.Fatalf("budget %d: the first kept message has role %s", budget, tail[0].Role)
		}
		if err := Legal(tail); err != nil {
			t.Fatalf("budget %d: %v", budget, err)
		}
		used := 0
		for _, m := range tail {
			used += Estimate(m)
		}
		if kept > 4 && used > budget {
			t.Fatalf("budget %d: %d tokens kept", budget, used)
		}
	}
	if before != len(msgs) {
		t.Errorf("a large budget keeps %d of %d messages", before, len(msgs))
	}
}

func TestRepairMakesEveryCutLegal(t *testing.T) {
	t.Parallel()
	msgs := history(4)
	for cut := range msgs {
		if err := Legal(Repair(msgs[cut:])); err != nil {
			t.Errorf("cut at %d: %v", cut, err)
		}
		if err := Legal(Repair(msgs[:cut])); err != nil {
			t.Errorf("end at %d: %v", cut, err)
		}
	}
}

func TestWindowIsNotOpenedByANotice(t *testing.T) {
	t.Parallel()
	notice := user("go on")
	notice.Mark = harness.MarkNotice
	msgs := []harness.Message{user(strings.Repeat("long ", 100)), assistant("half"), notice, assistant("rest")}
	if kept := Window(msgs, 30); kept != 4 {
		t.Errorf("kept %d messages, want the whole turn", kept)
	}
}

func TestWindowWithoutAnyUser(t *testing.T) {
	t.Parallel()
	msgs := []harness.Message{calls("a"), results("a", "1"), calls("b"), results("b", "2")}
	if kept := Window(msgs, Estimate(msgs[2])+Estimate(msgs[3])); kept != 2 {
		t.Errorf("kept %d, want 2", kept)
	}
	if kept := Window(nil, 10); kept != 0 {
		t.Errorf("kept %d of none", kept)
	}
	if kept := Window(msgs, -1); kept != 2 {
		t.Errorf("kept %d, want the last step", kept)
	}
}

func items(msgs []harness.Message) []Item {
	var all []Item
	for i := range msgs {
		all = append(all, Item{Message: &msgs[i]})
	}
	return all
}

func TestShortenClearsTheOldestResultsFirst(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("word ", 2_000)
	turn := []harness.Message{user("go"), calls("a"), results("a", big), calls("b"), results("b", big), calls("c"), results("c", big)}
	whole := 0
	for _, m := range turn {
		whole += Estimate(m)
	}
	one := Estimate(turn[2])
	for name, tc := range map[string]struct {
		budget  int
		cleared string
		dropped int
	}{
		"one":                      {whole - one/2, "a", 0},
		"two":                      {whole - one - one/2, "a b", 0},
		"steps before last result": {one + 60, "a b", 4},
		"all":                      {100, "a b c", 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, n, dropped := shorten(items(turn), tc.budget)
			if want := len(strings.Fields(tc.cleared)); n != want || dropped != tc.dropped {
				t.Errorf("cleared %d, dropped %d, want %d, %d", n, dropped, want, tc.dropped)
			}
			if err := Legal(out); err != nil {
				t.Error(err)
			}
			if out[0].Text() != "go" {
				t.Errorf("the user's message is gone: %s", sketch(out))
			}
			for _, m := range turn {
				if m.Role == harness.RoleTool && m.Parts[0].Result.Text != big {
					t.Fatal("the stored result changed")
				}
			}
		})
	}
}

func TestEstimateKnowsScripts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]int{
		"The quick brown fox jumps over the lazy dog and goes home.": {10, 20},
		"設備清單をここに書きます":                                               {12, 14},
		"Съешь ещё этих мягких французских булок":                    {12, 24},
		"👩‍👩‍👧":    {4, 12},
		"":         {0, 0},
		"12345678": {3, 5},
	} {
		got := Estimate(user(text)) - messageTokens
		if got < want[0] || got > want[1] {
			t.Errorf("%q is estimated at %d tokens, want %d to %d", text, got, want[0], want[1])
		}
	}
	if Estimate(calls("a")) <= Estimate(assistant("")) {
		t.Error("a call costs nothing")
	}
	file := harness.Message{Role: harness.RoleUser, Parts: []harness.Part{{Kind: harness.PartFile, File: &harness.File{MediaType: "image/png", Data: make([]byte, 1<<20)}}}}
	if Estimate(file) < imageTokens {
		t.Error("a file costs nothing")
	}
}

func TestReplyBudget(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		asked, grow int
		info        model.Info
		want        int
	}{
		"asked for":                       {500, 0, model.Info{Window: 10_000, MaxOutput: 4_000}, 500},
		"the model's own":                 {0, 0, model.Info{Window: 100_000, MaxOutput: 4_000}, 4_000},
		"no more than is usual":           {0, 0, model.Info{Window: 1_000_000, MaxOutput: 128_000}, mostReply},
		"unknown":                         {0, 0, model.Info{}, defaultReply},
		"a quarter of a window":           {0, 0, model.Info{Window: 16_000, MaxOutput: 8_000}, 4_000},
		"also if it is what is asked for": {8_000, 0, model.Info{Window: 16_000, MaxOutput: 8_000}, 4_000},
		"half of it once one was cut":     {16_000, 1, model.Info{Window: 16_000, MaxOutput: 16_000}, 8_000},
	} {
		if got := replyBudget(tc.asked, tc.grow, tc.info); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
	if got := fitReply(8_000, 6_000, model.Info{Window: 10_000}); got != 10_000-6_000-margin {
		t.Errorf("a reply budget of %d beside 6,000 tokens in a window of 10,000", got)
	}
	if got := fitReply(8_000, 60_000, model.Info{Window: 10_000}); got != minReply {
		t.Errorf("a reply budget of %d, want the least", got)
	}
	if got := fitReply(0, 60_000, model.Info{}); got != 0 {
		t.Errorf("a reply budget of %d although none was asked for", got)
	}
}
