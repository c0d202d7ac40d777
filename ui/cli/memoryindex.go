package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/harness/memory/near"
)

// indexing are the flags of `cairn memory index`.
type indexing struct{ update, rebuild, clear bool }

// indexed is what the command tells.
type indexed struct {
	// Model is the configured one, empty for none.
	Model string `json:"model"`
	near.Status
	// Made is how many vectors were made now.
	Made int `json:"made,omitempty"`
}

func (a *app) memoryIndex() *cobra.Command {
	var f indexing
	c := &cobra.Command{
		Use: "index", Short: "Show or make the vectors by which search finds what means the same",
		Long: `Show of which messages, facts and notes there are vectors, by which search and
recall find what means the same without a word in common. They are made by the
model that memory.embedding names, in the background of a chat; the texts are sent
to it. With --update what is missing is made now, with --rebuild all is made anew,
and --clear removes all of it. What is made is kept if it is broken off.`,
		Args: exactly(0, ""),
		RunE: runner(func(ctx context.Context, _ []string) error { return a.index(ctx, f) }),
	}
	c.Flags().BoolVar(&f.update, "update", false, "make what is missing now")
	c.Flags().BoolVar(&f.rebuild, "rebuild", false, "make all vectors anew")
	c.Flags().BoolVar(&f.clear, "clear", false, "remove all vectors; searches go by words")
	return c
}

func (a *app) index(ctx context.Context, f indexing) error {
	if f.update && f.rebuild || f.clear && (f.update || f.rebuild) {
		return usage("--update, --rebuild and --clear are three different things; give one of them")
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	out := indexed{Model: cfg.Embedding}
	st, err := a.reading(ctx)
	if err != nil {
		return err
	}
	if (f.update || f.rebuild) && st.Meaning == nil {
		switch {
		case cfg.Embedding == "":
			return fail(ExitUsage, "%w", errNoEmbedding)
		case cfg.NoMemory:
			return fail(ExitUsage, "no_memory is set, so nothing is sent to %s; it is from %s", cfg.Embedding, cfg.values["no_memory"].From)
		}
	}
	if st.Vectors != nil {
		if out.Made, err = a.makeIndex(ctx, st, f); errors.Is(err, near.ErrBusy) {
			return fail(ExitBusy, "another window makes the vectors now; to see how far it is: cairn memory index")
		} else if err != nil {
			return err
		}
		if out.Status, err = st.Vectors.Status(ctx); err != nil {
			return fmt.Errorf("look at the vectors: %w", err)
		}
	}
	if a.flags.json {
		return a.out.document(out)
	}
	if f.update || f.rebuild {
		a.out.line("%s made", harness.Count(out.Made, "vector"))
	}
	text, do := out.words()
	a.out.line("%s", text)
	if do != "" {
		a.out.line("%s", do)
	}
	return nil
}

// makeIndex does what the flags say and returns how many vectors it made. On a
// terminal it tells how far it is.
func (a *app) makeIndex(ctx context.Context, st Store, f indexing) (int, error) {
	if f.clear {
		return 0, st.Vectors.Clear(ctx)
	}
	if !f.update && !f.rebuild {
		return 0, nil
	}
	x := near.Indexer{Source: st.Meaning, Store: st.Vectors}
	told := a.s.Now()
	x.Tell = func(n int) {
		if now := a.s.Now(); a.s.ErrTTY && now.Sub(told) >= time.Second {
			told = now
			a.notice("%s made", harness.Count(n, "vector"))
		}
	}
	if f.rebuild {
		return x.Rebuild(ctx)
	}
	return x.Update(ctx)
}

// words are a sentence that says how the vectors stand, and what could be done.
func (x indexed) words() (text, do string) {
	if x.Model == "" {
		text = "search goes by words; no model is configured in memory.embedding"
		if x.Space != nil {
			return text + fmt.Sprintf(", and the vectors of %s are not used (%s)", x.Space.Model, sizeText(x.Bytes)), "to remove them: cairn memory index --clear"
		}
		return text, ""
	}
	all := x.Records + x.Items + x.Missing
	switch {
	case x.Space == nil:
		return fmt.Sprintf("no vectors yet; a chat makes those of %s in the background", x.Model), "to make them now: cairn memory index --update"
	case !x.Space.Of(x.Model):
		return fmt.Sprintf("the vectors are of %s and not used; a chat makes those of %s in the background", x.Space.Model, x.Model), "to make them now: cairn memory index --update"
	case x.Missing > 0:
		return fmt.Sprintf("%s: %s of %s messages, facts and notes have their vectors (%s); a chat makes the others in the background",
			x.Model, harness.Grouped(x.Records+x.Items), harness.Grouped(all), sizeText(x.Bytes)), "to make them now: cairn memory index --update"
	}
	return fmt.Sprintf("%s: all %s messages, facts and notes have their vectors (%d numbers each, %s)", x.Model, harness.Grouped(all), x.Space.Dims, sizeText(x.Bytes)), ""
}

// examineMeaning tells whether the configured model answers, and how its vectors
// stand. Where none is configured there is nothing to tell.
func (a *app) examineMeaning(ctx context.Context, c Config, st Store) []finding {
	if c.Embedding == "" || st.Vectors == nil {
		return nil
	}
	const about = "search"
	if st.Meaning == nil {
		return []finding{noted(about, "memory is off, so "+c.Embedding+" is not asked and search goes by words", "")}
	}
	out := indexed{Model: c.Embedding}
	var err error
	if out.Status, err = st.Vectors.Status(ctx); err != nil {
		return []finding{wrong(about, a.words(fmt.Errorf("look at the vectors: %w", err)), "")}
	}
	text, do := out.words()
	list := []finding{good(about, text)}
	if do != "" {
		list[0] = noted(about, text, do)
	}
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	if err := st.Meaning.Probe(ctx); err != nil {
		list = append(list, wrong(about, c.Embedding+" does not answer, so search goes by words: "+a.words(err), "check the key, the address and the name; to do without: cairn config set "+keyEmbedding+" off"))
	}
	return list
}
