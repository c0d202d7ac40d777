package bolt

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cairn/harness"
)

// compare notes what is new in the lists of d, and what is missing.
func (d *DB) compare(ctx context.Context, old *oldLists, l *lister, r *Rebuilt) error {
	now, err := d.oldLists(ctx)
	if err != nil {
		return err
	}
	for _, name := range listNames() {
		was, readable := old.lists[name]
		c := RebuiltList{Name: name, Readable: readable, Entries: len(now.lists[name])}
		for key, value := range now.lists[name] {
			before, ok := was[key]
			switch {
			case !ok:
				c.Added++
			case !sameEntry(name, before, value):
				c.Changed++
			}
		}
		for key := range was {
			if _, ok := now.lists[name][key]; !ok {
				c.Removed++
			}
		}
		if !readable || c.Added+c.Removed+c.Changed > 0 {
			r.Lists = append(r.Lists, c)
		}
	}
	if old.counters == nil || *old.counters != l.now {
		r.Lists = append(r.Lists, RebuiltList{Name: "counters", Readable: old.counters != nil, Entries: 1, Changed: 1})
	}
	r.Missing = missing(old, now)
	return nil
}

// sameEntry reports whether two entries of a list say the same.
func sameEntry(list string, a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, y := payload(a), payload(b)
	switch list {
	case "where":
		// A cairn that tells nothing of pins there is right, too.
		cut := func(p []byte) []byte {
			return bytes.ReplaceAll(bytes.ReplaceAll(p, []byte(`,"pin":1}`), []byte("}")), []byte(`,"pin":2}`), []byte("}"))
		}
		return bytes.Equal(cut(x), cut(y))
	case "texts":
		// Which of several is named first is of no meaning.
		split := func(p []byte) []string {
			return slices.Sorted(slices.Values(strings.Split(strings.Trim(string(p), "[]"), ",")))
		}
		return slices.Equal(split(x), split(y))
	}
	return false
}

func payload(value []byte) []byte { return value[min(valueHead, len(value)):] }

// missing says what old lists name that is not there.
func missing(old, now *oldLists) []string {
	var all []string
	for _, key := range slices.SortedFunc(maps.Keys(old.lists["where"]), cmp.Compare) {
		value, there := now.lists["where"][key]
		gone := bytes.Contains(value, []byte(`"gone":true`)) && !bytes.Contains(old.lists["where"][key], []byte(`"gone":true`))
		if there && !gone {
			continue
		}
		kind, id, ok := strings.Cut(key, "/")
		switch {
		case ok && kind == "s":
			all = append(all, "session "+id)
		case ok && kind == "r":
			all = append(all, "run "+id)
		case strings.HasPrefix(key, "f"):
			all = append(all, "fact "+key)
		case strings.HasPrefix(key, "n"):
			all = append(all, "note "+key)
		}
	}
	if c := old.counters; c != nil && len(all) == 0 && c.Sessions > now.counters.Sessions {
		all = append(all, fmt.Sprintf("%s of %d", harness.Count(c.Sessions-now.counters.Sessions, "session"), c.Sessions))
	}
	return all
}
