package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/harness/policy"
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
	// Limits are what calls may cost, absent if there are none.
	Limits *usageLimits `json:"limits,omitempty"`
}

// usageLimits are the limits, in USD.
type usageLimits struct {
	// Session bounds each session.
	Session float64 `json:"session,omitempty"`
	// Day is how the limit of today stands.
	Day *policy.Standing `json:"day,omitempty"`
}

// usageRow is what was used in one place. The fields that do not apply are empty.
type usageRow struct {
	Day     string            `json:"day,omitempty"`
	Model   string            `json:"model,omitempty"`
	Session harness.SessionID `json:"session,omitempty"`
	Title   string            `json:"title,omitempty"`
	Usage   harness.Usage     `json:"usage"`
	// Left is what further calls of the session may cost, absent without a limit.
	Left *float64 `json:"left,omitempty"`
}

// usageCommand is `cairn usage`.
func (a *app) usageCommand() *cobra.Command {
	by, days := byDay, 30
	cmd := &cobra.Command{
		Use: "usage", Short: "Show the tokens that models used, and what they cost",
		Long: `Show the tokens that models used, and what they cost in US dollars: by day and model,
by model, or by session. Summaries, titles and distilled facts count. Input has the
cached tokens in it, output the reasoning. A cost is unknown where a model's price
is; what is known is never a guess. With spending limits: what they leave, where
the most that calls under way can cost is held back until they are over; of a call
that broke off what it is thought to have cost, and what ephemeral chats cost, is
held back until the day is over.`,
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
		if err := a.limit(ctx, st, &r); err != nil {
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

// limit adds how the spending limits stand.
func (a *app) limit(ctx context.Context, st Store, r *usageReport) error {
	c, err := a.config()
	if err != nil || !c.Spending.Any() {
		return err
	}
	b := &policy.Budget{Spending: st.Spending, Limits: c.Spending, Holder: a.holder(), Now: a.s.Now}
	r.Limits = &usageLimits{Session: c.Spending.Session}
	day, ok, err := b.Day(ctx)
	if err != nil {
		return err
	}
	if ok {
		r.Limits.Day = &day
	}
	for i, row := range r.Rows {
		if row.Session == "" {
			continue
		}
		own, ok, err := b.Session(ctx, row.Session)
		if err != nil {
			return err
		}
		if ok {
			r.Rows[i].Left = &own.Left
		}
	}
	return nil
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
	defer a.tellLimits(r.Limits)
	if len(r.Rows) == 0 {
		a.out.line("No model was called yet%s.", map[bool]string{true: " in this time"}[r.From != ""])
		return
	}
	var t table
	for _, row := range r.Rows {
		t.add(cmp.Or(row.Day, string(row.Session), row.Model), cmp.Or(map[bool]string{true: row.Model}[row.Day != ""], ansi.Truncate(render.SafeLine(row.Title), maxUsageTitle, "…")),
			harness.Grouped(row.Usage.Input)+" in", cached(row.Usage), harness.Grouped(row.Usage.Output)+" out", reasoned(row.Usage), cost(row.Usage), left(row.Left), short(row.Usage))
	}
	t.add("total", "", harness.Grouped(r.Total.Input)+" in", cached(r.Total), harness.Grouped(r.Total.Output)+" out", reasoned(r.Total), cost(r.Total), "", short(r.Total))
	t.write(a.out, a.s.Width)
}

// tellLimits tells how the limits stand.
func (a *app) tellLimits(l *usageLimits) {
	if l == nil {
		return
	}
	if l.Session > 0 {
		a.out.line("limit of each session: %s", harness.Dollars(l.Session))
	}
	if d := l.Day; d != nil {
		held := ""
		if d.Held > 0 {
			held = fmt.Sprintf(", $%.4f held for other calls", d.Held)
		}
		a.out.line("limit of today: %s, $%.4f spent%s, $%.4f left", harness.Dollars(d.Limit), d.Spent, held, d.Left)
	}
}

// left is what a limit leaves, empty where there is none.
func left(usd *float64) string {
	if usd == nil {
		return ""
	}
	return fmt.Sprintf("$%.4f left", *usd)
}

func cached(u harness.Usage) string {
	if u.CacheRead == 0 {
		return ""
	}
	return "(" + harness.Grouped(u.CacheRead) + " cached)"
}

func reasoned(u harness.Usage) string {
	if u.Reasoning == 0 {
		return ""
	}
	return "(" + harness.Grouped(u.Reasoning) + " reasoning)"
}

// short says that the usage of some call never arrived.
func short(u harness.Usage) string {
	if !u.Incomplete {
		return ""
	}
	return "some not counted"
}
