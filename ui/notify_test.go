package ui_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"cairn/ui"
	"cairn/ui/screen"
	"cairn/ui/uitest"
)

// away starts a window on a session titled title, whose person looks elsewhere.
func away(w *uitest.World, title string, change func(d *ui.Deps)) *uitest.Driver {
	w.Tell("s", title, time.Now(), "hello", "hello")
	deps := w.Deps("s", false)
	deps.Notify.After = 200 * time.Millisecond
	if change != nil {
		change(&deps)
	}
	d := w.Start(deps, 80, 24)
	d.Send(screen.FocusMsg{In: false})
	return d
}

func TestALongTurnIsToldToWhoLooksElsewhere(t *testing.T) {
	for name, c := range map[string]struct {
		after time.Duration
		in    bool
		how   string
		env   map[string]string
		able  screen.Abilities
		want  []string
	}{
		"bell":                {want: []string{"\a"}},
		"short":               {after: time.Hour, want: nil},
		"in focus":            {in: true, want: nil},
		"off":                 {how: ui.NotifyOff, want: nil},
		"kitty":               {able: screen.Abilities{Answered: true, Name: "kitty(0.36.1)"}, want: []string{"\x1b]9;cairn: done: Q3 , invoices\x1b\\"}},
		"foot":                {able: screen.Abilities{Answered: true, Name: "foot(1.16)"}, want: []string{"\x1b]777;notify;cairn;cairn: done: Q3 , invoices\x1b\\"}},
		"by name":             {how: ui.NotifyOSC9, want: []string{"\x1b]9;cairn: done: Q3 , invoices\x1b\\"}},
		"through tmux":        {how: ui.NotifyOSC9, env: map[string]string{"TMUX": "x"}, want: []string{"\x1bPtmux;\x1b\x1b]9;cairn: done: Q3 , invoices\x1b\x1b\\\x1b\\"}},
		"not unasked in tmux": {env: map[string]string{"TMUX": "x"}, able: screen.Abilities{Answered: true, Name: "tmux 3.5"}, want: []string{"\a"}},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				d := away(w, "Q3 ; invoices", func(d *ui.Deps) {
					d.Notify.How = c.how
					d.Notify.After = max(c.after, d.Notify.After)
					d.Getenv = func(name string) string { return c.env[name] }
				})
				d.Send(screen.AbilitiesMsg(c.able)).Send(screen.FocusMsg{In: c.in})
				d.Type("count").Press("enter").Wait(time.Minute)
				if got := d.Written(); strings.Join(got, "|") != strings.Join(c.want, "|") {
					t.Errorf("written is %q, want %q", got, c.want)
				}
			})
		})
	}
}

func TestAnApprovalIsToldHoweverShortTheTurn(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		shell(w, goTest)
		d := away(w, "Tests", func(d *ui.Deps) { d.Notify = ui.NotifyUse{How: ui.NotifyOSC9, After: time.Hour} })
		d.Type("run them").Press("enter").Wait(3 * time.Second).Shows("approval needed")
		if got := d.Written(); len(got) != 1 || got[0] != "\x1b]9;cairn: waits for your decision: Tests\x1b\\" {
			t.Errorf("written is %q", got)
		}
		d.Wait(time.Hour)
		if len(d.Written()) != 1 {
			t.Errorf("it is told again: %q", d.Written())
		}
	})
}

func TestNothingIsToldBeforeTheTerminalSaidThatNobodyLooks(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("s", "Talk", time.Now(), "hello", "hello")
		d := w.Open("s", 80, 24)
		d.Type("count").Press("enter").Wait(time.Minute)
		if got := d.Written(); len(got) != 0 {
			t.Errorf("written is %q", got)
		}
	})
}

func TestATitleCannotDriveTheTerminalFromANotification(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := away(w, "a\x1b]52;c;eA==\a\u009d\u202e"+strings.Repeat("long ", 100), func(d *ui.Deps) { d.Notify.How = ui.NotifyOSC777 })
		d.Type("count").Press("enter").Wait(time.Minute)
		got := strings.Join(d.Written(), "|")
		body := strings.TrimSuffix(strings.TrimPrefix(got, "\x1b]777;notify;cairn;"), "\x1b\\")
		if len(got) == len(body) || strings.ContainsAny(body, "\x1b\a\u009d\u202e;") || len([]rune(body)) > 100 {
			t.Errorf("written is %q", got)
		}
	})
}

func TestNotificationsAreTurnedOffAndOnAgainAsTheyWere(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		var kept []string
		var fails error
		d := away(w, "Q3", func(d *ui.Deps) {
			d.Notify.How = ui.NotifyBell
			d.Save = func(_ context.Context, key, value string) error {
				kept = append(kept, key+"="+value)
				return fails
			}
		})
		d.Press("ctrl+x", "N").Shows("notifications are off; ^X N turns them on")
		d.Type("count").Press("enter").Wait(time.Minute)
		if got := d.Written(); len(got) != 0 {
			t.Errorf("written is %q", got)
		}
		d.Type("/settings").Press("enter").Type("notif").Shows("turn on notifications").Press("enter").Shows("notifications are on")
		d.Type("count").Press("enter").Wait(time.Minute)
		if got := d.Written(); len(got) != 1 || got[0] != "\a" {
			t.Errorf("written is %q", got)
		}
		fails = errors.New("notify is set by this project")
		d.Press("ctrl+x", "N").Shows("That counts for now, but is not kept: Notify is set by this project.")
		if got := strings.Join(kept, " "); got != "notify=off notify=bell notify=off" {
			t.Errorf("kept is %q", got)
		}
	})
}
