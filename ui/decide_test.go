package ui_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/uitest"
)

func TestApprovingOnceRunsTheCall(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		ran := shell(w, goTest)
		d := wanted(w, 80, 24)
		d.Shows("approval needed", "shell wants to run", goTest, "in ~/src/ledger", "check that the new case", "> n  refuse")
		if got := ran.Calls(); len(got) != 0 {
			t.Fatalf("it ran before it was approved: %q", got)
		}
		d.Type("y").Wait(time.Second).Shows("All done.", "approved by user at pts/101 (chat)").Hides("approval needed")
		if got := ran.Calls(); len(got) != 1 {
			t.Errorf("it ran %d times", len(got))
		}
	})
}

func TestTypingNeverApproves(t *testing.T) {
	for _, split := range []int{2, 5, 8} {
		in(t, func(t *testing.T, w *uitest.World) {
			ran := shell(w, goTest)
			d := w.Open("talk", 80, 24)
			d.Type("run the tests").Press("enter")
			text := "yes, a 1 p"
			d.Type(text[:split]).Wait(uitest.Pause / 2).Hides("approval needed")
			d.Wait(uitest.Pause).Shows("approval needed", "keys wake up 0.6 s after you stop typing")
			for _, r := range text[split:] {
				d.Type(string(r)).Wait(time.Second / 15)
			}
			d.Press("enter").Wait(time.Second/15).Shows("approval needed", "> "+text)
			d.Paste("y\n").Shows("> "+text+"y", "approval needed")
			d.Wait(5*time.Second).Shows("approval needed", text+"y")
			if got := ran.Calls(); len(got) != 0 {
				t.Errorf("typing approved %q", got)
			}
			draft, err := w.Store.Drafts().Load(t.Context(), "talk")
			if err != nil || !strings.HasPrefix(draft.Text, text+"y") {
				t.Errorf("the draft is %q, %v", draft.Text, err)
			}
		})
	}
}

func TestPausingInAMessageDoesNotLoseIt(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		ran := shell(w, goTest)
		d := w.Open("talk", 80, 24)
		d.Type("run the tests").Press("enter").Wait(uitest.Pause).Type("what about")
		d.Wait(time.Second).Hides("keys wake up").Type(" this, you said").Shows("> what about this, you said", "keys wake up")
		if got := ran.Calls(); len(got) != 0 {
			t.Errorf("typing on approved %q", got)
		}
	})
}

func TestADialogThatWasNotToBeSeenIsDeafAtFirst(t *testing.T) {
	for name, way := range map[string]struct{ there, back []string }{
		"sessions": {[]string{"ctrl+s"}, []string{"esc"}},
		"help":     {[]string{"f1"}, []string{"esc"}},
		"runs":     {[]string{"ctrl+x", "r"}, []string{"esc"}},
		"memory":   {[]string{"ctrl+x", "f"}, []string{"esc"}},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				ran := shell(w, goTest)
				d := w.Open("talk", 80, 24)
				d.Type("run the tests").Press("enter").Press(way.there...).Wait(5 * time.Second).Hides("approval needed")
				d.Press(way.back...).Shows("approval needed", "keys wake up").Type("yes").Shows("> yes")
				if got := ran.Calls(); len(got) != 0 {
					t.Errorf("typing approved %q", got)
				}
			})
		})
	}
}

func TestRefusingTellsTheModelWhy(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps func(d *uitest.Driver)
		want  string
	}{
		{"with a reason", func(d *uitest.Driver) { d.Type("n").Type("use make").Press("enter") }, "permission denied by the person: use make"},
		{"without one", func(d *uitest.Driver) { d.Press("enter").Press("enter") }, "permission denied by the person"},
		{"with the draft", func(d *uitest.Driver) { d.Type("# use make").Wait(time.Second).Type("d") }, "permission denied by the person: # use make"},
		{"with what is queued", func(d *uitest.Driver) {
			d.Press("esc").Type("use make").Press("enter").Shows("queued 1").Press("ctrl+x", "a").Wait(time.Second).Type("d")
		}, "permission denied by the person: use make"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				ran := shell(w, goTest)
				d := wanted(w, 80, 24)
				c.steps(d)
				d.Wait(time.Second).Shows("All done.", "declined").Hides("approval needed", "queued", "> use make")
				asked := w.Model.Asked()
				if len(asked) != 2 || len(ran.Calls()) != 0 {
					t.Fatalf("asked %d times, ran %q", len(asked), ran.Calls())
				}
				last := asked[1].Messages[len(asked[1].Messages)-1]
				if got := last.Parts[0].Result.Text; got != c.want {
					t.Errorf("the model read %q, want %q", got, c.want)
				}
			})
		})
	}
}

// A word that begins with a key of the dialog is a word, also after a quiet
// time and where a paste cannot be told from typing.
func TestAWordIsNoAnswer(t *testing.T) {
	for _, word := range []string{"yes, go on", "so what", "all of it", "draft"} {
		t.Run(word, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				ran := shell(w, goTest)
				d := wanted(w, 80, 24)
				d.Wait(5 * time.Second)
				for _, r := range word {
					d.Type(string(r)).Wait(150 * time.Millisecond)
				}
				d.Press("enter").Wait(2*time.Second).Shows("approval needed", "> "+word)
				if got := ran.Calls(); len(got) != 0 {
					t.Errorf("it ran %q", got)
				}
			})
		})
	}
}

func TestSeveralCallsAreDecidedOneAfterTheOther(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		ran := w.Asking("shell", command(goTest))
		w.Model.Then(uitest.CallsAll([2]string{"shell", `{"n":1}`}, [2]string{"shell", `{"n":2}`}), uitest.Says("All ", "done."))
		d := wanted(w, 80, 24)
		d.Shows("approval needed · 1 of 2").Type("y").Wait(400*time.Millisecond).Shows("approval needed · 2 of 2", "keys wake up")
		d.Type("y").Wait(time.Second).Shows("> y", "2 of 2").Press("backspace").Wait(time.Second).Type("n").Press("enter")
		d.Wait(time.Second).Shows("All done.").Hides("approval needed")
		if got := ran.Calls(); len(got) != 1 || got[0] != `{"n":1}` {
			t.Errorf("it ran %q", got)
		}
	})
}

func TestARuleIsStoredAsShownAndEdited(t *testing.T) {
	for _, c := range []struct {
		name    string
		steps   func(d *uitest.Driver)
		session harness.SessionID
		rule    string
	}{
		{"session", func(d *uitest.Driver) { d.Type("s") }, "talk", "shell(=" + goTest + ")"},
		{"always", func(d *uitest.Driver) { d.Type("a") }, "", "shell(go test)"},
		{"edited", func(d *uitest.Driver) { d.Type("e").Press("backspace").Type(" ./importer)").Press("enter", "enter") }, "", "shell(go test ./importer)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				shell(w, goTest)
				d := wanted(w, 80, 24)
				c.steps(d)
				d.Wait(time.Second).Shows("All done.")
				grants, err := w.Store.Grants().List(t.Context(), "talk")
				if err != nil || len(grants) != 1 || grants[0].Session != c.session || grants[0].Rule != c.rule {
					t.Errorf("the grants are %+v, %v", grants, err)
				}
			})
		})
	}
}

func TestARuleCountsForWhatItSaysAndNothingElse(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		ran := w.Shell()
		for _, c := range []string{"git status", "git status", "git status; touch P"} {
			w.Model.Then(uitest.Calls("run_command", fmt.Sprintf(`{"command":%q}`, c)), uitest.Says("All ", "done."))
		}
		d := wanted(w, 80, 24)
		d.Shows("git status", "allow for this session  run_command(=git status)").Type("s").Wait(time.Second).Shows("All done.")
		d.Type("again").Press("enter").Wait(2 * time.Second).Hides("approval needed")
		if got := ran.Calls(); len(got) != 2 {
			t.Fatalf("the rule does not count: ran %q", got)
		}
		d.Type("and more").Press("enter").Wait(2*time.Second).Shows("approval needed", "git status; touch P")
		if got := ran.Calls(); len(got) != 2 {
			t.Errorf("the rule counts for more than it says: ran %q", got)
		}
	})
}

func TestABadRuleIsSaidAndCanBeMended(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		ran := shell(w, goTest)
		d := wanted(w, 80, 24)
		d.Type("e").Press("ctrl+u").Type("shell(").Press("enter").Type("a").Wait(time.Second)
		d.Shows("approval needed", "> shell(", "the rule to allow always")
		if got := ran.Calls(); len(got) != 0 {
			t.Fatalf("it ran without a rule: %q", got)
		}
		d.Press("ctrl+u").Type("shell(go test)").Press("enter").Type("a").Wait(time.Second).Shows("All done.")
	})
}

func TestAnApprovalSurvivesARestart(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		ran := shell(w, goTest)
		d := wanted(w, 80, 24)
		d.Shows("approval needed")
		for range 2 {
			w.Crash()
			d.Stop()
			d = w.Open("talk", 80, 24)
			d.Shows("approval needed", goTest, "check that the new case", "keys wake up").Type("y").Press("backspace")
			if got := ran.Calls(); len(got) != 0 {
				t.Fatalf("it ran without consent: %q", got)
			}
		}
		d.Wait(time.Second).Type("y").Wait(time.Second).Shows("All done.").Hides("approval needed")
		if got := ran.Calls(); len(got) != 1 {
			t.Errorf("it ran %d times", len(got))
		}
	})
}

func TestDecidingLaterKeepsTheRunWaiting(t *testing.T) {
	for name, reopen := range map[string]func(d *uitest.Driver){
		"enter":    func(d *uitest.Driver) { d.Press("enter") },
		"ctrl+x a": func(d *uitest.Driver) { d.Press("ctrl+x", "a") },
		"/approve": func(d *uitest.Driver) { d.Type("/approve").Press("enter") },
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				shell(w, goTest)
				d := wanted(w, 80, 24)
				d.Press("esc").Shows("an approval waits: shell", "enter decides", "waits for approval").Hides("approval needed")
				d.Type("and then").Press("enter").Shows(`queued 1: "and then"`, "an approval waits")
				reopen(d)
				d.Shows("approval needed", "keys wake up").Wait(time.Second).Type("y").Wait(3 * time.Second)
				d.Shows("All done.", "echo and then").Hides("queued")
			})
		})
	}
}

func TestADialogLeavesOpenWhatWasWritten(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		shell(w, goTest)
		d := wanted(w, 80, 24)
		d.Type("n").Type("because").Press("ctrl+c").Hides("your reason").Shows("approval needed").Type("n").Shows("> because")
		d.Press("ctrl+u").Press("ctrl+c").Hides("your reason").Shows("approval needed").Type("n").Type("because")
		d.Press("esc", "esc").Press("enter").Wait(time.Second).Type("n").Shows("> because")
		d.Paste(" it is\nslow").Shows("> because it is slow", "your reason")
	})
}

func TestAnotherWindowSeesThatADecisionWaits(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		shell(w, goTest)
		d := wanted(w, 80, 24)
		reader := w.Open("talk", 80, 24)
		reader.Shows("an approval waits: shell", "it is decided in pid 101", "waits for approval").Hides("approval needed")
		reader.Type("y").Press("backspace").Type("/approve").Press("enter").Shows("read-only")
		d.Type("y").Wait(2 * time.Second)
		reader.Wait(2 * time.Second).Shows("All done.").Hides("an approval waits")
	})
}

// moved is an engine in which what waits has changed when it is decided.
type moved struct {
	harness.Engine
	left int
	err  error
}

func (e *moved) Decide(ctx context.Context, l harness.Lease, id harness.RunID, ds ...harness.Decision) (harness.RunHandle, error) {
	if e.left--; e.left >= 0 {
		return nil, fmt.Errorf("decide: %w", e.err)
	}
	return e.Engine.Decide(ctx, l, id, ds...)
}

func TestADecisionThatIsNotTakenLosesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		says string
	}{
		"stale":   {harness.ErrStale, "What waits has changed"},
		"failing": {errors.New("the disk is gone"), "the disk is gone"},
		"gone":    {harness.ErrNotFound, "decided already, elsewhere"},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				ran := shell(w, goTest)
				deps := w.Deps("talk", false)
				deps.Engine = &moved{Engine: deps.Engine, left: 1, err: c.err}
				d := w.Start(deps, 80, 24)
				d.Type("run the tests").Press("enter").Wait(2 * time.Second).Type("n").Type("use make").Press("enter")
				d.Wait(time.Second).Shows(c.says, "approval needed").Press("esc")
				if got := ran.Calls(); len(got) != 0 {
					t.Fatalf("it ran %q", got)
				}
				d.Type("n").Shows("> use make").Press("esc").Type("y").Wait(time.Second).Shows("All done.")
			})
		})
	}
}

func TestADraftThatCouldNotGoAlongComesBack(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		shell(w, goTest)
		deps := w.Deps("talk", false)
		deps.Engine = &moved{Engine: deps.Engine, left: 1, err: errors.New("the disk is gone")}
		d := w.Start(deps, 80, 24)
		d.Type("run the tests").Press("enter").Wait(2 * time.Second).Type("# use make").Wait(time.Second).Type("d")
		d.Wait(time.Second).Shows("> # use make", "the disk is gone", "approval needed")
	})
}

func TestAnUncertainCallIsResolved(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps func(d *uitest.Driver)
		shows string
		ran   int
	}{
		{"result", func(d *uitest.Driver) { d.Type("g").Type("it passed").Press("enter") }, "All done.", 1},
		{"again", func(d *uitest.Driver) { d.Type("r") }, "All done.", 2},
		{"abort", func(d *uitest.Driver) { d.Type("a") }, "outcome unknown", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				d, ran := uncertainly(w, 80, 24)
				d.Shows("outcome unknown", "nobody saw it end", "asked for at 00:00:00", "may then happen twice", "> esc")
				c.steps(d)
				d.Wait(2 * time.Second).Shows(c.shows).Hides("nobody saw it end")
				if got := ran.Calls(); len(got) != c.ran {
					t.Errorf("it ran %d times, want %d", len(got), c.ran)
				}
			})
		})
	}
}

func TestTheWholeCommandCanBeReadBeforeConsent(t *testing.T) {
	var script strings.Builder
	for i := range 40 {
		fmt.Fprintf(&script, "echo step %02d\n", i)
	}
	for name, c := range map[string]struct {
		command string
		hidden  bool
		want    []string
	}{
		"3,000 characters": {strings.Repeat("harmless ", 334) + "; touch P", true, []string{"; touch P"}},
		"a script":         {script.String(), true, []string{"echo step 00␊", "echo step 39"}},
		"a return":         {"rm -rf x\recho harmless", false, []string{"rm -rf x␍echo harmless"}},
		"many newlines":    {"true" + strings.Repeat("\n", 50) + "touch P", true, []string{"true␊", "touch P"}},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				ran := shell(w, c.command)
				d := wanted(w, 60, 20)
				if got := strings.Contains(d.Screen(), "below"); got != c.hidden {
					t.Fatalf("says that something is hidden: %t, want %t\n%s", got, c.hidden, d.Screen())
				}
				var read strings.Builder
				for range 60 {
					screen := d.Screen()
					read.WriteString(screen)
					if !strings.Contains(screen, "below") {
						break
					}
					d.Press("pgdown")
				}
				for _, want := range c.want {
					if !strings.Contains(read.String(), want) {
						t.Errorf("%q could not be read", want)
					}
				}
				d.Type("v").Hides("> write a message").Shows("shell wants to run").Press("esc").Type("y").Wait(time.Second).Shows("All done.")
				if got := ran.Calls(); len(got) != 1 {
					t.Errorf("it ran %d times", len(got))
				}
			})
		})
	}
}

func TestRandomInputNeverBreaksTheDialog(t *testing.T) {
	keys := []string{
		"enter", "esc", "ctrl+c", "ctrl+x", "a", "v", "f", "e", "n", "g", "s", "q", "2", "up", "down", "pgup", "pgdown",
		"ctrl+o", "ctrl+r", "ctrl+j", "backspace", "ctrl+u", "?", "f1", "會",
	}
	for seed := range uint64(6) {
		in(t, func(t *testing.T, w *uitest.World) {
			r := rand.New(rand.NewPCG(seed, 2))
			w.Asking("shell", command(strings.Repeat("漢字\x1b[2J \u202e text\r\n", 40)))
			w.Asking("edit_file", harness.Proposal{Kind: harness.ProposalEdit, Subject: strings.Repeat("/dir", 60), Diff: rowDiff})
			w.Asking("ask_user", harness.Proposal{Kind: harness.ProposalQuestion, Body: "Which?", Choices: []string{"red\n", "blue"}})
			w.Rules["shell"] = [2]string{"shell(x)", "shell(" + strings.Repeat("long ", 40) + ")"}
			for range 50 {
				w.Model.Then(uitest.CallsAll([2]string{"shell", `{}`}, [2]string{"edit_file", `{}`}, [2]string{"ask_user", `{}`}))
			}
			d := w.Open("talk", 80, 24)
			d.Type("go").Press("enter").Wait(time.Second)
			for range 300 {
				switch r.IntN(10) {
				case 0:
					d.Paste("y\n\x1b[2J")
				case 1:
					d.Resize(r.IntN(130), r.IntN(45))
				case 2, 3:
					d.Wait(time.Duration(r.IntN(1500)) * time.Millisecond)
				case 4:
					d.Type("y")
				default:
					d.Press(keys[r.IntN(len(keys))])
				}
				if strings.ContainsAny(d.Screen(), "\x1b\t\r\u202e") {
					t.Fatalf("a control character is drawn:\n%q", d.Screen())
				}
				if d.Quit() {
					d = w.Open("talk", 80, 24)
				}
			}
		})
	}
}

func TestWhoTakesTheSessionOverDecides(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		ran := shell(w, goTest)
		d := wanted(w, 80, 24)
		other := w.Open("talk", 80, 24)
		other.Press("ctrl+x", "w")
		d.Wait(time.Second).Shows("read-only").Hides("approval needed")
		other.Wait(time.Second).Shows("approval needed", goTest).Wait(time.Second).Type("y").Wait(time.Second).Shows("All done.")
		if got := ran.Calls(); len(got) != 1 {
			t.Errorf("it ran %d times", len(got))
		}
	})
}

func TestATurnThatWaitsCanBeDropped(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		ran := shell(w, goTest)
		d := wanted(w, 80, 24)
		d.Press("esc").Type("/retry").Press("enter").Shows("a decision is waiting")
		d.Type("d").Wait(time.Second).Hides("an approval waits").Type("hello").Press("enter").Wait(time.Second).Shows("All done.")
		if got := ran.Calls(); len(got) != 0 {
			t.Errorf("it ran %q", got)
		}
	})
}
