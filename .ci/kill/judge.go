package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// judge compares what is on disk with what was promised, and returns how much
// answer text is there.
func (c *trial) judge(got shown, fault func(string, ...any)) int {
	records := map[int]json.RawMessage{}
	users, answers := 0, ""
	for _, r := range got.Records {
		if _, twice := records[r.Seq]; twice {
			fault("record %d is there twice", r.Seq)
		}
		records[r.Seq] = r.Message
		var m message
		if err := json.Unmarshal(r.Message, &m); err != nil && r.Kind == "message" {
			fault("record %d is no message: %v", r.Seq, err)
		}
		switch {
		case m.Role == "user" && m.Mark == "":
			users++
		case m.Role == "assistant":
			answers += m.text()
		}
	}
	if users != 1 {
		fault("%d user messages, want 1", users)
	}
	cursor := map[string]int{}
	for _, r := range got.Runs {
		cursor[r.ID] = r.Cursor
		if r.Partial != nil {
			answers += r.Partial.Text
		}
		if r.Status == "running" && !r.Interrupted {
			fault("run %s is said to be running", r.ID)
		}
	}
	c.acknowledged(records, cursor, fault)
	talk := c.mock.talk(c.id)
	if must := talk.text(c.killed.Add(-lossAllowed)); !strings.HasPrefix(answers, must) {
		fault("%d bytes sent %v before the kill, %d on disk", len(must), lossAllowed, len(answers))
	}
	if all := talk.text(c.killed.Add(1 << 40)); !strings.HasPrefix(all, answers) {
		fault("the text on disk was never sent: %.80q", answers)
	}
	return len(answers)
}

// acknowledged checks every event that carried a number.
func (c *trial) acknowledged(records map[int]json.RawMessage, cursor map[string]int, fault func(string, ...any)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.events {
		if e.Seq == 0 {
			continue
		}
		if cursor[e.Run] < e.Seq {
			fault("event %d (%s) was acknowledged, the journal ends at %d", e.Seq, e.Type, cursor[e.Run])
		}
		if e.Record == 0 {
			continue
		}
		if stored, ok := records[e.Record]; !ok || !same(stored, e.Message) {
			fault("record %d was acknowledged by %s and is not on disk as it was", e.Record, e.Type)
		}
	}
}

func same(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && x.String() == y.String()
}

// goOn sends another message to the session and looks at what is there then.
func (c *trial) goOn(ctx context.Context) error {
	out, err := c.command(ctx, "-p", "-s", c.id, fmt.Sprintf("trial %s after", c.id)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	if !strings.Contains(string(out), "It went on.") {
		return fmt.Errorf("the answer is %q", out)
	}
	got, err := c.show(ctx)
	if err != nil {
		return err
	}
	for _, r := range got.Runs {
		if r.Status != "completed" && r.Status != "cancelled" {
			return fmt.Errorf("run %s is still %s", r.ID, r.Status)
		}
	}
	if c.place != "in-tool" {
		return nil
	}
	raw, err := c.command(ctx, "facts", "list", "--json").Output()
	if err != nil {
		return fmt.Errorf("facts list: %w", err)
	}
	if n := strings.Count(string(raw), "the fact of "+c.id+"\""); n > 1 {
		return fmt.Errorf("its fact was saved %d times", n)
	}
	return nil
}
