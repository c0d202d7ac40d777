package distill_test

import "testing"

func TestAShortSentenceAboutOneselfIsRead(t *testing.T) {
	for text, want := range map[string]int{
		"my name is Ada": 1, "I hate tabs": 1, "call me Ada": 1, "我叫艾达": 1,
		"thank you!": 0, "go on": 0, "yes, do it": 0, "12345678901234": 0, "谢谢": 0,
	} {
		t.Run(text, func(t *testing.T) {
			w := open(t, facts(t))
			w.say(t, text, "a long answer of the model, which does not count")
			w.read(t)
			if got := len(w.model.requests); got != want {
				t.Errorf("it was read with %d calls, want %d", got, want)
			}
			if s := w.session(t); s.Distilled != s.Records {
				t.Errorf("it is read up to %d of %d", s.Distilled, s.Records)
			}
		})
	}
}
