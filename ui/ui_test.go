package ui_test

import (
	"testing"
	"testing/synctest"
	"time"

	"cairn/ui/uitest"
)

func TestTypeSendAndSeeTheAnswerStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := uitest.NewWorld(t)
		d := w.Open("talk", 80, 24)
		d.Shows("New chat", "parrot")
		d.Type("hello there").Shows("> hello there")
		d.Press("enter").Shows("you ·", "hello there", "waiting… 0s")
		d.Wait(uitest.Pause).Shows("cairn · writing", "ec")
		d.Wait(time.Second).Shows("echo hello there", "saved 00:00:00").Hides("writing")
	})
}
