package picker

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"cairn/harness"
)

// meaning is a search that asks a model, and one by words alone.
type meaning struct{ *slow }

func (m meaning) Words() harness.Searcher { return worded(m) }

type worded struct{ *slow }

func (w worded) Search(ctx context.Context, query string, limit int) ([]harness.Hit, error) {
	return w.slow.Search(ctx, "words "+query, limit)
}

func TestWordsAreFoundAtOnceAndAModelIsAskedOnceTypingRests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &slow{takes: 10 * time.Millisecond}
		l := openLive(t, meaning{f})
		for _, k := range []string{"z", "e"} {
			l.key(k, searchPause+20*time.Millisecond)
		}
		if begun, _ := f.saw(); !slices.Equal(begun, []string{"words z", "words ze"}) {
			t.Errorf("while typing it searched %q", begun)
		}
		l.shows("found by words ze")
		l.pass(meaningPause + 20*time.Millisecond)
		if begun, _ := f.saw(); !slices.Equal(begun, []string{"words z", "words ze", "ze"}) {
			t.Errorf("searched %q", begun)
		}
		l.shows("found by ze")
	})
}
