package ui_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui"
	"cairn/ui/uitest"
)

type uiDeps = ui.Deps

func count(text, what string) int { return strings.Count(text, what) }

// started is an engine that keeps what it was asked to begin with.
type started struct {
	harness.Engine
	all *[]harness.RunConfig
}

func (s started) Start(ctx context.Context, r harness.StartRequest) (harness.RunHandle, error) {
	*s.all = append(*s.all, r.Config)
	return s.Engine.Start(ctx, r)
}

// without opens a session and keeps the configurations of its turns.
func without(w *uitest.World, id harness.SessionID, fresh bool, width, height int) (*uitest.Driver, *[]harness.RunConfig) {
	all := new([]harness.RunConfig)
	d := w.Deps(id, fresh)
	d.Engine = started{d.Engine, all}
	return w.Start(d, width, height), all
}

func stored(t *testing.T, w *uitest.World, id harness.SessionID) harness.Session {
	t.Helper()
	s, err := w.Store.Sessions().Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMemoryIsTurnedOffForOneSession(t *testing.T) {
	for name, fresh := range map[string]bool{"before its first message": true, "later": false} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				if !fresh {
					w.Tell("talk", "Our talk", time.Now(), "hello", "hi")
				}
				d, runs := without(w, "talk", fresh, 80, 24)
				d.Hides("memory off").Type("/memory off").Press("enter")
				d.Shows("memory is off in this chat: nothing is recalled", " memory off").Type("one").Press("enter").Wait(time.Second)
				if len(*runs) != 1 || !(*runs)[0].NoMemory || !stored(t, w, "talk").NoMemory {
					t.Fatalf("the turn had %+v, the session is %+v", *runs, stored(t, w, "talk"))
				}
				d.Type("/memory off").Press("enter").Shows("memory is off in this chat already")
				again, later := without(w, "talk", false, 40, 10)
				again.Wait(time.Second).Shows("memory off")
				d.Type("/quit").Press("enter").Wait(time.Second)
				again.Press("ctrl+x", "w").Wait(time.Second).Type("two").Press("enter").Wait(time.Second)
				again.Type("/memory on").Press("enter").Hides("memory off").Type("three").Press("enter").Wait(time.Second)
				if len(*later) != 2 || !(*later)[0].NoMemory || (*later)[1].NoMemory {
					t.Errorf("the turns of the next window had %+v", *later)
				}
			})
		})
	}
}

func TestAPromptAtTheStartIsSentAsTheSessionIs(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("other", "Other", time.Now(), "hello", "hi")
		off := true
		if _, err := w.Store.Sessions().Edit(t.Context(), "other", harness.SessionEdit{NoMemory: &off}); err != nil {
			t.Fatal(err)
		}
		all := new([]harness.RunConfig)
		d := w.Deps("other", false)
		d.Engine, d.Prompt = started{d.Engine, all}, "go"
		w.Start(d, 80, 24).Wait(time.Second).Shows("echo go")
		if len(*all) != 1 || !(*all)[0].NoMemory {
			t.Errorf("the turn had %+v", *all)
		}
	})
}

func TestTurningMemoryOffIsUndone(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "hello", "hi")
		d := w.Open("talk", 120, 40)
		d.Type("/memory off").Press("enter").Shows("ctrl+_ turns it on again").Press("ctrl+_").Shows("memory is on in this chat").Hides("memory off")
		if stored(t, w, "talk").NoMemory {
			t.Error("the store has it off")
		}
		d.Press("ctrl+_").Hides("undid")
		d.Type("/memory of").Press("enter").Shows("/memory off and /memory on are for this chat")
		d.Type("/memory").Press("enter").Shows("[1 Facts 0")
	})
}

// Turning it off while the first message is on its way counts from the next
// turn on, and is stored although the session did not exist.
func TestMemoryTurnedOffDuringTheFirstTurnStaysOff(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Sleeps(3 * time.Second))
		d, runs := without(w, "talk", true, 80, 24)
		d.Type("one").Press("enter").Type("/memory off").Press("enter").Type("/memory on").Press("enter").Type("/memory off").Press("enter")
		d.Wait(5*time.Second).Shows("good morning", "memory off").Type("two").Press("enter").Wait(time.Second)
		if len(*runs) != 2 || (*runs)[0].NoMemory || !(*runs)[1].NoMemory || !stored(t, w, "talk").NoMemory {
			t.Errorf("the turns had %+v, the session is %+v", *runs, stored(t, w, "talk"))
		}
	})
}

func TestRememberByHandWorksWhereMemoryIsOff(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 120, 40)
		d.Type("/memory off").Press("enter").Type("/remember the sky is green").Press("enter")
		d.Shows("remembered f1; ", "memory is off in this chat, and /memory on turns it on")
		d.Type("/forget f1").Press("enter").Shows("forgot f1: the sky is green", "/memory on turns it on")
	})
}
