package bolt

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"cairn/harness"
)

// Counts is how many of each thing a file holds, deleted ones and those that are
// kept for forks too. They are counted one by one and not read from anywhere.
type Counts struct {
	Sessions    int `json:"sessions"`
	Messages    int `json:"messages"`
	Artifacts   int `json:"artifacts"`
	Runs        int `json:"runs"`
	Facts       int `json:"facts"`
	Notes       int `json:"notes"`
	Suggestions int `json:"suggestions"`
	Prompts     int `json:"prompts"`
	Grants      int `json:"grants"`
}

// String says the counts that are not 0, but sessions and messages always.
func (c Counts) String() string {
	parts := []string{harness.Count(c.Sessions, "session"), harness.Count(c.Messages, "message")}
	for _, p := range []struct {
		n    int
		name string
	}{
		{c.Artifacts, "artifact"},
		{c.Runs, "run"},
		{c.Facts, "fact"},
		{c.Notes, "note"},
		{c.Suggestions, "suggestion"},
		{c.Prompts, "prompt"},
		{c.Grants, "permission"},
	} {
		if p.n > 0 {
			parts = append(parts, harness.Count(p.n, p.name))
		}
	}
	return strings.Join(parts, ", ")
}

// count reads every value of the file, in slices, and counts what they are. One
// that is not whole is an error.
func (d *DB) count(ctx context.Context) (Counts, error) {
	var c Counts
	var r Report
	w := walker{report: &r, seen: c.add}
	if err := d.inSlices(ctx, "count", w.step); err != nil {
		return c, err
	}
	if len(r.Problems) > 0 {
		return c, fmt.Errorf("count: %w: %s", harness.ErrDamaged, strings.Join(r.Problems, "; "))
	}
	return c, nil
}

// add counts the value under key in the bucket of a path. The value is whole.
func (c *Counts) add(path []string, key, value []byte) {
	switch {
	case len(path) == 1:
		c.addTop(path[0], string(key))
	case len(path) < 2 || path[0] != "sessions":
	case len(path) == 2 && string(key) == string(keyInfo):
		c.Sessions++
	case len(path) == 3:
		c.addOwn(path[2], value)
	case len(path) == 4 && path[2] == "runs" && string(key) == string(keyInfo):
		c.Runs++
	case len(path) == 4 && path[2] == artifactsName && string(key) == string(keyHead):
		c.Artifacts++
	}
}

// addTop counts a value of a top-level bucket.
func (c *Counts) addTop(bucket, key string) {
	switch {
	case bucket == "prompts":
		c.Prompts++
	case bucket == "inbox" && key != string(keyBook):
		c.Suggestions++
	case bucket == "grants" && key != string(keyBook):
		c.Grants++
	}
}

// addOwn counts a value of a bucket of a session.
func (c *Counts) addOwn(bucket string, value []byte) {
	switch bucket {
	case "facts":
		c.Facts++
	case "notes":
		c.Notes++
	case "conversation":
		var r struct {
			Message *struct{} `json:"message"`
		}
		if json.Unmarshal(value[valueHead:], &r) == nil && r.Message != nil {
			c.Messages++
		}
	}
}
