package agent

import (
	"slices"

	"cairn/harness"
	"cairn/harness/snapshot"
	"cairn/harness/tool/ask"
)

// plan returns the id of the call that set a task list, if r is its result.
func plan(r harness.Record) string {
	if r.Message == nil {
		return ""
	}
	for _, p := range r.Message.Parts {
		if p.Result != nil && p.Result.Name == ask.TodosTool && !p.Result.Failed {
			return p.Result.CallID
		}
	}
	return ""
}

// tasks returns the task list that was set last on a branch, nil if none was.
func tasks(branch []harness.Record) []snapshot.Task {
	call := ""
	for _, r := range slices.Backward(branch) {
		if call == "" {
			call = plan(r)
			continue
		}
		if list, ok := listed(r, call); ok {
			return list
		}
	}
	return nil
}

// listed returns the task list in a call, if r holds the call.
func listed(r harness.Record, call string) ([]snapshot.Task, bool) {
	if r.Message == nil {
		return nil, false
	}
	for _, c := range r.Message.Calls() {
		if c.ID != call {
			continue
		}
		list, err := ask.Todos(c.Input)
		if err != nil {
			return nil, false // no list that the tool can have taken
		}
		all := make([]snapshot.Task, 0, len(list))
		for _, t := range list {
			all = append(all, snapshot.Task{Text: t.Text, Status: string(t.Status)})
		}
		return all, true
	}
	return nil, false
}
