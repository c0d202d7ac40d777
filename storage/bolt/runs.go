package bolt

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/storage/internal/rules"
)

var keyPartial = []byte("partial") //nolint:gochecknoglobals // a key that nobody changes

// runInfo is what is stored of a run besides its log.
type runInfo struct {
	harness.Run
	SystemRef string `json:"system_ref,omitempty"`
	// Number orders the runs of the store by their start.
	Number int `json:"number"`
	// Streaming says that there is a partial text.
	Streaming bool `json:"streaming,omitempty"`
}

// runPlace is the value of where/r/<run>.
type runPlace struct {
	Session harness.SessionID `json:"session"`
	Number  int               `json:"number"`
}

// runBucket is one run's bucket with its info.
type runBucket struct {
	bucket
	s    *session
	info runInfo
}

func whereRun(id harness.RunID) []byte { return []byte("r/" + string(id)) }

func logKey(seq int) []byte { return append([]byte("log/"), number(seq)...) }

// findRun returns a run and its session.
func (t *tx) findRun(id harness.RunID) (*runBucket, error) {
	where, err := t.root("where")
	if err != nil {
		return nil, err
	}
	var at runPlace
	if ok, err := where.get(whereRun(id), &at); err != nil {
		return nil, err
	} else if !ok {
		// A key that damage has changed leads astray whoever looks for its
		// neighbours.
		if err := where.verifyAll(); err != nil {
			return nil, err
		}
		if _, err := t.allRefs(where); err != nil {
			return nil, err
		}
		return nil, harness.ErrNotFound
	}
	s, ok, err := t.find(at.Session)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, t.d.damaged(place(where.path, whereRun(id)), "the run's session is missing")
	}
	return s.run(id)
}

// run returns a run that is known to be the session's.
func (s *session) run(id harness.RunID) (*runBucket, error) {
	runs, err := s.must("runs")
	if err != nil {
		return nil, err
	}
	b, err := runs.must(string(id))
	if err != nil {
		return nil, err
	}
	r := &runBucket{bucket: b, s: s}
	if err := r.need(keyInfo, &r.info); err != nil {
		return nil, err
	}
	if r.info.SystemRef != "" {
		if r.info.Config.System, err = s.longText(r.info.SystemRef); err != nil {
			return nil, err
		}
	}
	if r.info.ID != id || r.has(logKey(r.info.Cursor+1)) || s.info.LastRun == id && s.info.LastCursor != r.info.Cursor {
		return nil, s.t.d.damaged(place(b.path, keyInfo), "the run is not the one last written")
	}
	return r, nil
}

// newRun makes the bucket of a run and lists it. The caller adds its first
// entry and saves it.
func (s *session) newRun(info harness.Run) (*runBucket, error) {
	where, err := s.t.root("where")
	if err != nil {
		return nil, err
	}
	c, err := s.t.counters()
	if err != nil {
		return nil, err
	}
	if info.ID == "" {
		return nil, fmt.Errorf("a run needs an id")
	}
	if where.has(whereRun(info.ID)) {
		return nil, fmt.Errorf("run %s: %w", info.ID, harness.ErrExists)
	}
	runs, err := s.must("runs")
	if err != nil {
		return nil, err
	}
	b, err := runs.make(string(info.ID))
	if err != nil {
		return nil, err
	}
	c.LastRun++
	c.Runs++
	s.info.Runs++
	if err := where.put(whereRun(info.ID), runPlace{s.info.ID, c.LastRun}); err != nil {
		return nil, err
	}
	if info.Request != "" {
		requests, err := s.make("requests")
		if err != nil {
			return nil, err
		}
		if err := requests.put(requestKey(info.Request), info.ID); err != nil {
			return nil, err
		}
	}
	return &runBucket{bucket: b, s: s, info: runInfo{Run: info, Number: c.LastRun}}, nil
}

// requestKey bounds what the caller chose to a key.
func requestKey(request string) []byte {
	sum := sha256.Sum256([]byte(request))
	return []byte(hex.EncodeToString(sum[:16]))
}

// requested returns the run that a request started before, if one did.
func (s *session) requested(request string) (*runBucket, error) {
	requests, ok := s.sub("requests")
	if !ok || request == "" {
		return nil, nil
	}
	var id harness.RunID
	if ok, err := requests.get(requestKey(request), &id); err != nil || !ok {
		return nil, err
	}
	return s.run(id)
}

// save writes the info, and what else has to follow it. The caller saves the
// session.
func (r *runBucket) save() error {
	r.s.info.LastRun, r.s.info.LastCursor = r.info.ID, r.info.Cursor
	if err := r.list(); err != nil {
		return err
	}
	return r.putInfo()
}

func (r *runBucket) putInfo() error {
	info := r.info
	info.Partial, info.Interrupted, info.SystemRef = nil, false, ""
	if len(info.Config.System) >= longSystem {
		ref, err := r.s.keepText(info.Config.System)
		if err != nil {
			return err
		}
		info.Config.System, info.SystemRef = "", ref
	}
	return r.put(keyInfo, info)
}

// list keeps unfinished/ in step with the run's status.
func (r *runBucket) list() error {
	unfinished, err := r.t.root("unfinished")
	if err != nil {
		return err
	}
	key := []byte(r.info.ID)
	listedNow, open := unfinished.has(key), !r.info.Status.Closed()
	if listedNow == open {
		return nil
	}
	c, err := r.t.counters()
	if err != nil {
		return err
	}
	if open {
		c.Unfinished++
		return unfinished.put(key, r.s.info.ID)
	}
	c.Unfinished--
	return unfinished.del(key)
}

// add appends entries to the log, their messages to the conversation and their
// usage to the day. The caller saves run and session.
func (r *runBucket) add(entries []run.Entry) ([]run.Entry, error) {
	added := make([]run.Entry, 0, len(entries))
	for _, e := range entries {
		var err error
		if e.Message, err = r.memory().Settle(e.Message); err != nil {
			return nil, err
		}
		e, rec, err := rules.AddEntry(&r.info.Run, &r.s.info.Session, e, r.t.now)
		if err != nil {
			return nil, err
		}
		if rec != nil {
			if err := r.s.putRecord(*rec); err != nil {
				return nil, err
			}
		}
		if err := r.put(logKey(e.Seq), rules.Apart(e)); err != nil {
			return nil, err
		}
		if e.Effects, err = r.memory().Apply(e.Effects); err != nil {
			return nil, err
		}
		if r.info.Streaming && rules.DropsPartial(e) {
			r.info.Streaming = false
			if err := r.del(keyPartial); err != nil {
				return nil, err
			}
		}
		if err := r.t.addUsage(rules.UsageModel(r.info.Run, e), e.Usage); err != nil {
			return nil, err
		}
		added = append(added, e)
	}
	return added, nil
}

// shown returns the run as callers see it.
func (r *runBucket) shown() (harness.Run, error) {
	out := r.info.Run
	if r.info.Streaming {
		var p harness.Partial
		if err := r.need(keyPartial, &p); err != nil {
			return out, err
		}
		out.Partial = &p
	}
	if out.Status == harness.RunRunning && !out.Away() {
		_, alive, err := r.t.owner(out.Session, r.s.info.Generation)
		if err != nil {
			return out, err
		}
		out.Interrupted = rules.Interrupted(out, r.s.info.Generation, alive)
	}
	return out, nil
}
