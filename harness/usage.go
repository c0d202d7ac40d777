package harness

import (
	"context"
	"time"
)

// DayUsage is what one model used on one day.
type DayUsage struct {
	// Day is a local day of the person, such as "2026-03-01".
	Day string `json:"day"`
	// Model is "provider/model".
	Model string `json:"model"`
	Usage Usage  `json:"usage"`
}

// Ledger keeps account of what model calls used. The calls of runs are booked by
// the journal in the transaction that stores their outcome; this is for reading,
// and for calls beside a run. All methods are safe for concurrent use, also from
// several processes.
type Ledger interface {
	// Book adds what a call used to a session and, under its model, to today. Of a
	// session that is gone only the day is kept: it was paid for.
	Book(ctx context.Context, id SessionID, model string, u Usage) error
	// Days returns what was used on the local days from one time to another, both
	// included, in the order of day and model.
	Days(ctx context.Context, from, to time.Time) ([]DayUsage, error)
}
