package cli

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/ui/render"
)

// What usage is summed by.
const (
	byDay     = "day"
	byModel   = "model"
	bySession = "session"
)

// maxUsageTitle bounds a title among numbers, in cells.
const maxUsageTitle = 60

// usageReport is the JSON of `cairn usage`.
type usageReport struct {
	// From and To are local days, both included; empty where all time counts.
	From  string        `json:"from,omitempty"`
	To    string        `json:"to,omitempty"`
	Rows  []usageRow    `json:"rows"`
	Total harness.Usage `json:"total"`
}

// usageRow is what was used in one place. The fields that do not apply are empty.
type usageRow struct {
	Day     string            `json:"day,omitempty"`
	Model   string            `json:"model,omitempty"`
	Session harness.SessionID `json:"session,omitempty"`
	Title   string            `json:"title,omitempty"`
	Usage   harness.Usage     `json:"usage"`
}

// usageCommand is `cairn usage`.
func (a *app) usageCommand() *cobra.Command {
	by, days := byDay, 30
	cmd := &cobra.Command{
		Use: "usage", Short: "Show the tokens that models used, and what they cost",
		Long: `Show the tokens that models used, and what they cost in US dollars: by day and model,
by model, or by session. Summaries, titles and distilled facts count. Input has the
cached tokens in it, output the reasoning. A cost is unknown where a model's price
is; what is known is never a guess.`,
		Args: exactly(0, ""),
	}
	f := cmd.Flags()
	f.StringVar(&by, "by", by, "sum by `day`, model or session, which are of all time")
	f.IntVar(&days, "days", days, "the last `N` days with today, 0 for all")
	cmd.RunE = runner(func(ctx context.Context, _ []string) error {
		if kinds := []string{byDay, byModel, bySession}; !slices.Contains(kinds, by) {
			return usage("usage cannot be summed by %q; it is by day, model or session", by)
		}
		if days < 0 {
			return usage("--days %d is negative; give how many days to show, 0 for all", days)
		}
		st, err := a.reading(ctx)
		if err != nil {
			return err
		}
		r, err := usageOf(ctx, st, by, days, a.s.Now())
		if err != nil {
			return err
		}
		if a.flags.json {
			return a.out.document(r)
		}
		a.tellUsage(r)
		return nil
	})
	return cmd
}

// usageOf sums what was used.
func usageOf(ctx context.Context, st Store, by string, days int, now time.Time) (usageReport, error) {
	r := usageReport{Rows: []usageRow{}}
	if by == bySession {
		list, err := st.Sessions.List(ctx, harness.SessionFilter{})
		if err != nil {
			return r, err
		}
		for _, s := range list {
			if s.Usage != (harness.Usage{}) {
				r.Rows = append(r.Rows, usageRow{Session: s.ID, Title: s.Title, Usage: s.Usage})
			}
		}
		slices.SortStableFunc(r.Rows, dearest)
		return r.summed(), nil
	}
	from := time.Time{}
	if days > 0 {
		from = now.AddDate(0, 0, 1-days)
		r.From, r.To = from.Local().Format(time.DateOnly), now.Local().Format(time.DateOnly)
	}
	list, err := st.Ledger.Days(ctx, from, now)
	if err != nil {
		return r, err
	}
	models := map[string]harness.Usage{}
	for _, d := range list {
		models[d.Model] = models[d.Model].Add(d.Usage)
		if by == byDay {
			r.Rows = append(r.Rows, usageRow{Day: d.Day, Model: d.Model, Usage: d.Usage})
		}
	}
	if by == byModel {
		for name, u := range models {
			r.Rows = append(r.Rows, usageRow{Model: name, Usage: u})
		}
		slices.SortFunc(r.Rows, func(x, y usageRow) int { return cmp.Or(dearest(x, y), cmp.Compare(x.Model, y.Model)) })
	}
	return r.summed(), nil
}

// dearest sorts by cost, then by tokens, the most first.
func dearest(x, y usageRow) int {
	return cmp.Or(cmp.Compare(y.Usage.Cost, x.Usage.Cost), cmp.Compare(y.Usage.Input+y.Usage.Output, x.Usage.Input+x.Usage.Output))
}

func (r usageReport) summed() usageReport {
	for _, row := range r.Rows {
		r.Total = r.Total.Add(row.Usage)
	}
	return r
}

// tellUsage shows a report to a person.
func (a *app) tellUsage(r usageReport) {
	if len(r.Rows) == 0 {
		a.out.line("No model was called yet%s.", map[bool]string{true: " in this time"}[r.From != ""])
		return
	}
	var t table
	for _, row := range r.Rows {
		t.add(cmp.Or(row.Day, string(row.Session), row.Model), cmp.Or(map[bool]string{true: row.Model}[row.Day != ""], ansi.Truncate(render.SafeLine(row.Title), maxUsageTitle, "…")),
			render.Grouped(row.Usage.Input)+" in", cached(row.Usage), render.Grouped(row.Usage.Output)+" out", reasoned(row.Usage), cost(row.Usage), short(row.Usage))
	}
	t.add("total", "", render.Grouped(r.Total.Input)+" in", cached(r.Total), render.Grouped(r.Total.Output)+" out", reasoned(r.Total), cost(r.Total), short(r.Total))
	t.write(a.out, a.s.Width)
}

func cached(u harness.Usage) string {
	if u.CacheRead == 0 {
		return ""
	}
	return "(" + render.Grouped(u.CacheRead) + " cached)"
}

func reasoned(u harness.Usage) string {
	if u.Reasoning == 0 {
		return ""
	}
	return "(" + render.Grouped(u.Reasoning) + " reasoning)"
}

// short says that the usage of some call never arrived.
func short(u harness.Usage) string {
	if !u.Incomplete {
		return ""
	}
	return "some not counted"
}
