// Package account has what models used in the rows and words that screens and
// lines show. The one thing to know: a cost that is not known is said to be
// unknown, and never guessed from the costs that are.
package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"cairn/harness"
)

// Days is how many days an account is of, today among them.
const Days = 14

// Row is what was used in one place.
type Row struct {
	// Name is a local day such as "2026-09-18", a model, or the title of a
	// session, else its id. Models and titles are foreign text.
	Name  string
	Usage harness.Usage
}

// Account is what was used lately.
type Account struct {
	// Days are all days of the account, those without calls too, today first.
	Days []Row
	// Models are those that were called, the most used first.
	Models []Row
	// Session is what one session used so far.
	Session harness.Usage
	// Today and Total are of all sessions.
	Today, Total harness.Usage
}

// Getter describes a session, as [harness.Sessions] does.
type Getter interface {
	Get(ctx context.Context, id harness.SessionID) (harness.Session, error)
}

// Read takes the account of the last days, and of a session, which may not be
// stored yet. A nil ledger knows of no day.
func Read(ctx context.Context, l harness.Ledger, s Getter, id harness.SessionID, now time.Time) (Account, error) {
	var a Account
	session, err := s.Get(ctx, id)
	if err != nil && !errors.Is(err, harness.ErrNotFound) {
		return a, fmt.Errorf("read what session %s used: %w", id, err)
	}
	a.Session = session.Usage
	if l == nil {
		return a, nil
	}
	year, month, day := now.Local().Date()
	// Noon is there on every day, also on those on which clocks are changed.
	noon := time.Date(year, month, day, 12, 0, 0, 0, time.Local)
	list, err := l.Days(ctx, noon.AddDate(0, 0, 1-Days), now)
	if err != nil {
		return a, fmt.Errorf("read what the last %d days used: %w", Days, err)
	}
	days, models := map[string]harness.Usage{}, map[string]harness.Usage{}
	for _, d := range list {
		days[d.Day], models[d.Model] = days[d.Day].Add(d.Usage), models[d.Model].Add(d.Usage)
		a.Total = a.Total.Add(d.Usage)
	}
	for i := range Days {
		name := noon.AddDate(0, 0, -i).Format(time.DateOnly)
		a.Days = append(a.Days, Row{Name: name, Usage: days[name]})
	}
	a.Today = a.Days[0].Usage
	for name, u := range models {
		a.Models = append(a.Models, Row{Name: name, Usage: u})
	}
	a.Models = sorted(a.Models)
	return a, nil
}

// Sessions are the sessions in which a model was called, of all time, the most
// used first.
func Sessions(ctx context.Context, s harness.Sessions) ([]Row, error) {
	list, err := s.List(ctx, harness.SessionFilter{})
	if err != nil {
		return nil, fmt.Errorf("list what sessions used: %w", err)
	}
	var rows []Row
	for _, v := range list {
		if v.Usage != (harness.Usage{}) {
			rows = append(rows, Row{Name: cmp.Or(v.Title, string(v.ID)), Usage: v.Usage})
		}
	}
	return sorted(rows), nil
}

// sorted puts the most used first, in the measure that compares all of them.
func sorted(rows []Row) []Row {
	byCost := ByCost(rows)
	slices.SortStableFunc(rows, func(x, y Row) int {
		return cmp.Or(cmp.Compare(Size(y.Usage, byCost), Size(x.Usage, byCost)), cmp.Compare(x.Name, y.Name))
	})
	return rows
}

// ByCost reports whether rows can be compared by their cost: if all of them
// are known, and not all nothing.
func ByCost(rows []Row) bool {
	some := false
	for _, r := range rows {
		if r.Usage != (harness.Usage{}) && !r.Usage.CostKnown {
			return false
		}
		some = some || r.Usage.Cost > 0
	}
	return some
}

// Size is how much a usage is among others: its cost, or its tokens.
func Size(u harness.Usage, byCost bool) float64 {
	if byCost {
		return u.Cost
	}
	return float64(u.Input + u.Output)
}
