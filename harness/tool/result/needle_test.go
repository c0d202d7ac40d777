package result

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// looked is a context that counts how often it is looked at, and is cancelled
// after so many looks if that is not 0.
type looked struct {
	context.Context
	looks, most int
}

func (c *looked) Err() error {
	if c.looks++; c.most > 0 && c.looks > c.most {
		return context.Canceled
	}
	return nil
}

func finds(ctx context.Context, t *testing.T, pattern, line string) (at [][2]int, err error) {
	t.Helper()
	n, err := newNeedle(pattern)
	if err != nil {
		t.Fatal(err)
	}
	f := n.in(line)
	for from := 0; from <= len(line); {
		begin, end, err := f.next(ctx, from)
		if err != nil || begin < 0 {
			return at, err
		}
		at = append(at, [2]int{begin, end})
		from = max(end, begin+1)
	}
	return at, nil
}

// Long lines are searched in another way than short ones.
func TestLongLinesAreSearchedLikeShortOnes(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{`b.r`, `bar`, `^bar`, `^x`, `\bbar\b`, `(?i)BAR`, `ba+r`, `r$`, `(bar|é)`, `z*é`, `[`, `nothing\d`, `é.{0,3}bar`} {
		short := "xx bar é baar b.r BAR ^bar [ nothing\\d é12bar r"
		long := strings.Repeat("x", longPart) + short[2:]
		near, err := finds(t.Context(), t, pattern, short)
		if err != nil {
			t.Fatal(err)
		}
		far, err := finds(t.Context(), t, pattern, long)
		if err != nil {
			t.Fatal(err)
		}
		if len(near) != len(far) || len(near) == 0 {
			t.Errorf("%s: %v in a short line, %v in a long one", pattern, near, far)
			continue
		}
		for i := range near {
			moved := len(long) - len(short)
			if pattern == `^x` {
				moved = 0
			}
			if far[i][0] != near[i][0]+moved || far[i][1] != near[i][1]+moved {
				t.Errorf("%s: %v in a short line, %v in a long one", pattern, near, far)
			}
		}
	}
}

// A line is searched once for the text and once for the expression, however often
// one of them is found.
func TestALineIsSearchedOnce(t *testing.T) {
	t.Parallel()
	line := strings.Repeat(strings.Repeat("x", 5_000)+"call(now)", 100)
	ctx := &looked{Context: t.Context()}
	at, err := finds(ctx, t, "call(now)", line)
	if err != nil || len(at) != 100 {
		t.Fatalf("found %d times, %v", len(at), err)
	}
	ctx.looks = 0
	if at, err = finds(ctx, t, "[x](now)", line+"[x](now)[x](now)"); err != nil || len(at) != 2 {
		t.Fatalf("found at %v, %v", at, err)
	}
	if most := 2 * len(line) / lookEvery; ctx.looks == 0 || ctx.looks > most {
		t.Errorf("%d looks, at most %d", ctx.looks, most)
	}
}

// Nobody waits for the end of a line for which nobody waits any more.
func TestASearchInALongLineIsStopped(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 10*longPart)
	for _, pattern := range []string{`x{1,50}y`, `x.*[yz]`} {
		ctx := &looked{Context: t.Context(), most: 3}
		if at, err := finds(ctx, t, pattern, line); !errors.Is(err, context.Canceled) || len(at) != 0 || ctx.looks > 10 {
			t.Errorf("%s: %v, %v after %d looks", pattern, at, err, ctx.looks)
		}
	}
}
