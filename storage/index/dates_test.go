package index

import (
	"testing"
	"time"
)

func TestPeriodOfWords(t *testing.T) {
	t.Parallel()
	now := time.Date(2024, 3, 14, 15, 9, 0, 0, time.FixedZone("", 3600)) // a Thursday
	for text, want := range map[string]string{
		"what did we say yesterday":           "2024-03-13 2024-03-14",
		"today":                               "2024-03-14 2024-03-15",
		"the plan of last week":               "2024-03-04 2024-03-11",
		"this week":                           "2024-03-11 2024-03-18",
		"last month":                          "2024-02-01 2024-03-01",
		"last year's trip":                    "",
		"last year":                           "2023-01-01 2024-01-01",
		"last Tuesday":                        "2024-03-12 2024-03-13",
		"last Thursday":                       "2024-03-07 2024-03-08",
		"last Supper":                         "",
		"3 days ago":                          "2024-03-11 2024-03-12",
		"2 months ago":                        "2024-01-01 2024-02-01",
		"2 trains ago":                        "",
		"long ago":                            "",
		"in May 2023":                         "2023-05-01 2023-06-01",
		"in May":                              "2023-05-01 2023-06-01",
		"in march":                            "2024-03-01 2024-04-01",
		"you may march":                       "",
		"on 8 May":                            "2023-05-08 2023-05-09",
		"on March 3rd":                        "2024-03-03 2024-03-04",
		"the 15th of March":                   "2023-03-15 2023-03-16",
		"October 13, 2023":                    "2023-10-13 2023-10-14",
		"13 oct 2023":                         "2023-10-13 2023-10-14",
		"31 February 2023":                    "",
		"2023-05-08":                          "2023-05-08 2023-05-09",
		"2023-15-08":                          "",
		"in 2023":                             "2023-01-01 2024-01-01",
		"error 2023":                          "",
		"the first 99999999999999999999 days": "",
		"":                                    "",
	} {
		p, ok := periodOf(Terms(text), now)
		got := ""
		if ok {
			got = p.from.Format(time.DateOnly) + " " + p.until.Format(time.DateOnly)
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]bool{"in May 2023": true, "yesterday": false, "in May": false, "2 days ago": false} {
		if _, ok := periodOf(Terms(text), time.Time{}); ok != want {
			t.Errorf("%q without a now: %v", text, ok)
		}
	}
}
