package loop

import (
	"encoding/json"
	"fmt"

	"cairn/harness"
)

// TasksTool is the name of the tool with which a model shows what it is going
// to do: its argument "todos" is the whole list, of which each item has a
// "status" ("completed" when it is done).
const TasksTool = "write_todos"

// plan is what is known of the turn's task list.
type plan struct {
	// open counts the items of the last list that are not completed; settled says
	// that the model was asked about them.
	open    int
	settled bool
}

// listed takes a task list in that a call has set.
func (p *plan) listed(c harness.ToolCall, r harness.ToolResult) {
	if c.Name != TasksTool || r.Failed {
		return
	}
	var in struct {
		Todos []struct {
			Status string `json:"status"`
		} `json:"todos"`
	}
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return // the tool took it, so it was no list of this form
	}
	p.open = 0
	for _, t := range in.Todos {
		if t.Status != "completed" {
			p.open++
		}
	}
}

// settlePlan asks once about a task list that an answer at the end of the turn
// leaves unfinished. A turn at its limit of steps has no step for that.
func (s *State) settlePlan() {
	if s.open == 0 || s.settled || s.steps-s.since >= s.limit() {
		return
	}
	items := "an item that is not completed"
	if s.open > 1 {
		items = fmt.Sprintf("%d items that are not completed", s.open)
	}
	s.setNote(ReasonPlan, fmt.Sprintf(notePlan, items))
}
