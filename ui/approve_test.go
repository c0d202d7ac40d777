package ui_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/uitest"
)

// command is what the tests' shell tool shows of a call.
func command(text string) harness.Proposal {
	return harness.Proposal{
		Kind: harness.ProposalCommand, Body: text, About: []string{"in ~/src/ledger", "timeout 60 s"},
		Why: "check that the new case fails first",
	}
}

const goTest = "go test ./importer/... -run TestBlankVAT"

// shell gives the world a shell that asks, and a model that wants to use it
// and then says a word.
func shell(w *uitest.World, text string) *uitest.Ran {
	ran := w.Asking("shell", command(text))
	w.Rules["shell"] = [2]string{"shell(=" + goTest + ")", "shell(go test)"}
	w.Model.Then(uitest.Calls("shell", `{"command":"x"}`), uitest.Says("All ", "done."))
	return ran
}

// wanted opens a window in which the shell has been waited for long enough.
func wanted(w *uitest.World, width, height int) *uitest.Driver {
	d := w.Open("talk", width, height)
	return d.Type("run the tests").Press("enter").Wait(2 * time.Second)
}

const rowDiff = `--- a/importer/row.go
+++ b/importer/row.go
@@ -84,6 +84,7 @@ func parse
 func parseRow(rec []string) (*Row, error) {
     r := newRow(rec)
-    if r.VAT == "" {
-        return nil, ErrBadRow
+    if r.VAT == "" && r.Country.EU() {
+        r.Flag(MissingVAT)
+        r.Note("blank")
     }
     return r, nil
`

func TestGoldenDialogs(t *testing.T) {
	edit := harness.Proposal{
		Kind: harness.ProposalEdit, Subject: "/home/ada/src/ledger/importer/row.go", Diff: rowDiff, Added: 3, Removed: 2,
		About: []string{"in ~/src/ledger"}, Why: "blank is legal outside the EU (f12)",
	}
	question := harness.Proposal{
		Kind: harness.ProposalQuestion, Body: "Which of the two callers shall keep the old behaviour?\nBoth have tests.",
		Choices: []string{"cmd/credit.go", "cmd/import.go", "neither"},
	}
	for _, c := range []struct {
		name string
		show func(w *uitest.World, width, height int) *uitest.Driver
	}{
		{"ask-command", func(w *uitest.World, width, height int) *uitest.Driver {
			shell(w, goTest)
			d := w.Open("talk", width, height)
			return d.Type("run the tests").Press("enter").Wait(uitest.Pause).Type("Also check the credit-note pa")
		}},
		{"ask-awake", func(w *uitest.World, width, height int) *uitest.Driver {
			shell(w, goTest)
			return wanted(w, width, height)
		}},
		{"ask-rule", func(w *uitest.World, width, height int) *uitest.Driver {
			shell(w, goTest)
			return wanted(w, width, height).Type("e")
		}},
		{"ask-reason", func(w *uitest.World, width, height int) *uitest.Driver {
			shell(w, goTest)
			return wanted(w, width, height).Type("n").Type("use make test")
		}},
		{"ask-later", func(w *uitest.World, width, height int) *uitest.Driver {
			shell(w, goTest)
			return wanted(w, width, height).Press("esc")
		}},
		{"ask-edit", func(w *uitest.World, width, height int) *uitest.Driver {
			w.Asking("edit_file", edit)
			w.Rules["edit_file"] = [2]string{"edit_file(importer/**)", "edit_file(importer/**)"}
			w.Model.Then(uitest.CallsAll([2]string{"edit_file", `{"path":"importer/row.go"}`}, [2]string{"edit_file", `{"path":"importer/row_test.go"}`}))
			return wanted(w, width, height)
		}},
		{"ask-sides", func(w *uitest.World, width, height int) *uitest.Driver {
			w.Asking("edit_file", edit)
			w.Model.Then(uitest.Calls("edit_file", `{"path":"importer/row.go"}`))
			return wanted(w, width, height).Type("v")
		}},
		{"ask-question", func(w *uitest.World, width, height int) *uitest.Driver {
			w.Asking("ask_user", question)
			w.Model.Then(uitest.Calls("ask_user", `{"question":"x"}`))
			return wanted(w, width, height).Type("the one in cmd")
		}},
		{"ask-long", func(w *uitest.World, width, height int) *uitest.Driver {
			shell(w, strings.Repeat("a harmless word ", 190)+"; touch P")
			return wanted(w, width, height)
		}},
		{"ask-whole", func(w *uitest.World, width, height int) *uitest.Driver {
			shell(w, "set -e\r\nfor f in *.go; do\n  echo \"$f\"\ndone\nrm -rf x\recho harmless")
			return wanted(w, width, height).Type("f")
		}},
		{"ask-uncertain", func(w *uitest.World, width, height int) *uitest.Driver {
			d, _ := uncertainly(w, width, height)
			return d
		}},
	} {
		for _, s := range sizes {
			name := fmt.Sprintf("%s-%dx%d", c.name, s[0], s[1])
			t.Run(name, func(t *testing.T) {
				in(t, func(t *testing.T, w *uitest.World) {
					golden(t, name, strings.Join(c.show(w, s[0], s[1]).Lines(), "\n")+"\n")
				})
			})
		}
	}
}

// uncertainly opens a window on a run whose call began before a crash and was
// not seen to end, gone on with.
func uncertainly(w *uitest.World, width, height int) (*uitest.Driver, *uitest.Ran) {
	ran := shell(w, goTest)
	ran.Hang()
	d := w.Open("talk", width, height)
	d.Type("run the tests").Press("enter").Wait(2 * time.Second).Type("y").Wait(time.Second)
	w.Crash()
	d.Stop()
	ran.Work()
	return w.Open("talk", width, height).Type("c").Wait(2 * time.Second), ran
}
