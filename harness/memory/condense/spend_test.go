package condense_test

import (
	"errors"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/memory/condense"
	"cairn/harness/model"
	"cairn/harness/policy"
)

func TestCondensingKeepsWithinTheLimits(t *testing.T) {
	t.Parallel()
	w := open(t, 8_000)
	w.info.PriceKnown, w.info.InputPrice, w.info.OutputPrice = true, 1, 10
	w.say(t, talk(40, 100)...)
	limits := harness.SpendingLimits{Day: 1}
	w.c.Book, w.c.Budget = w.st.Ledger().Book, &policy.Budget{Spending: w.st.Spending(), Limits: limits, Now: w.c.Now}
	other, err := w.st.Spending().Hold(t.Context(), harness.Hold{Session: "s", Model: "fake/m", Amount: .999}, limits)
	if err != nil {
		t.Fatal(err)
	}
	var over *harness.SpendingError
	if r, err := w.c.Condense(t.Context(), w.lease, "", false, nil); !errors.As(err, &over) || r.Messages != 0 || len(w.model.asked) != 0 {
		t.Fatalf("%+v, %v, %d calls, want a refusal and none", r, err, len(w.model.asked))
	}
	if err := w.st.Spending().Settle(t.Context(), other, 0); err != nil {
		t.Fatal(err)
	}
	r, err := w.c.Condense(t.Context(), w.lease, "", false, nil)
	if err != nil || r.Messages == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	// Nothing is held any more, and what was used is booked.
	days, err := w.st.Ledger().Days(t.Context(), time.Time{}, w.c.Now())
	if err != nil || len(days) != 1 || days[0].Usage.Incomplete {
		t.Fatalf("%+v, %v", days, err)
	}
	if _, err := w.st.Spending().Hold(t.Context(), harness.Hold{Session: "s", Model: "fake/m", Amount: 1 - days[0].Usage.Cost - 1e-9}, limits); err != nil {
		t.Fatal(err)
	}
}

func TestNotesAreBookedUnderTheModelThatWroteThem(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{"a note": "The note.", "none": ""} {
		w := open(t, 8_000)
		w.info.Fallbacks = []model.Info{{ID: "fake/dear", PriceKnown: true, InputPrice: 1_000}}
		w.say(t, talk(40, 100)...)
		w.model.answer = func(model.Request) (model.Reply, error) {
			r := says(answer)
			r.Model = "fake/dear"
			return r, nil
		}
		w.c.Book = w.st.Ledger().Book
		r, err := w.c.Condense(t.Context(), w.lease, "", false, nil)
		if errors.Is(err, condense.ErrSummary) != (answer == "") || err != nil && answer != "" {
			t.Fatalf("%s: %+v, %v", name, r, err)
		}
		days, err := w.st.Ledger().Days(t.Context(), time.Time{}, w.c.Now())
		if err != nil || len(days) != 1 || days[0].Model != "fake/dear" || days[0].Usage.Cost < .9 || days[0].Usage.Cost != r.Usage.Cost {
			t.Errorf("%s: booked %+v, %v, told %+v", name, days, err, r.Usage)
		}
	}
}
