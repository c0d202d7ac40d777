package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// answer is what the model says about the importer.
const answer = "The parser treats an empty VAT id as a parse error. Two lines matter:\n\n```go\nif r.VAT == \"\" {\n    return nil, ErrBadRow\n}\n```\n\n" +
	"Blank is legal for *non-EU* customers, so return the row and mark it instead:\n\n| case | today | proposed |\n|---|---|---|\n| EU, blank VAT | dropped | error, row kept |\n" +
	"| non-EU, blank | dropped | accepted |\n\n1. `parseRow` gets the country first\n2. the blank check comes after it\n"

// stall is where a stream stops for the picture of one that goes on.
const stall = "return the row"

// asking is a request, as far as the scenes need it.
type asking struct {
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []json.RawMessage `json:"tools"`
}

// said is the last message of the person, and whether a tool has answered since.
func (q asking) said() (text string, after bool) {
	for _, m := range q.Messages {
		switch m.Role {
		case "user":
			text, after = string(m.Content), false
		case "tool":
			after = true
		}
	}
	return text, after
}

// reply is what the model says: text, a call, or both.
type reply struct {
	text, tool, arguments string
	slow                  bool // it stops at the stall
}

// replies are told by words of what was said; the first that is found counts. The
// second of two replies is the one after a tool.
func replies() []struct {
	words         string
	first, second reply
} {
	return []struct {
		words         string
		first, second reply
	}{
		{"run the tests", reply{tool: "run_command", arguments: `{"command":"go test ./importer/...","why":"to see what fails before anything is changed"}`}, reply{text: "All tests pass."}},
		{"fix it", reply{text: "The blank check must know the country.", tool: "edit_file", arguments: `{"path":"importer/row.go","old":"\tif r.VAT == \"\" {\n","new":"\tif r.VAT == \"\" && euCountry(r.Country) {\n","why":"blank is legal outside the EU"}`}, reply{text: "It is fixed."}},
		{"read the source", reply{tool: "read_file", arguments: `{"path":"importer/row.go"}`}, reply{text: "Rows without a VAT id are dropped here, in `parseRow`."}},
		{"Which customers", reply{tool: "ask_user", arguments: `{"question":"Whose rows may have no VAT id?","choices":["all customers","non-EU customers","nobody's"]}`}, reply{text: "Then the check needs the country."}},
		{"Plan the fix", reply{tool: "write_todos", arguments: `{"todos":[{"text":"read parseRow","status":"completed"},{"text":"write a failing test","status":"in_progress"},{"text":"check the country first"},{"text":"look at credit notes"}]}`}, reply{text: "This is the plan; I take the steps one at a time."}},
		{"task list still", reply{text: "The test is next; then the country, then the credit notes."}, reply{}},
		{"wait a little", reply{tool: "run_command", arguments: `{"command":"sleep 20 && ./send-invoices"}`}, reply{text: "Done."}},
		{"documented", reply{text: "In two places:\n\n- the [list of VAT ids](https://example.com/vat)\n- the [format of the bank](https://example.com/csv)\n\nPlease read both.\n"}, reply{}},
		{"moved to Bremen", reply{text: "Noted: Bremen, and table tests from now on.\n"}, reply{}},
		{"Be brief", reply{text: "In brief: a blank VAT id is taken for an error, and outside the EU it is none.\n"}, reply{}},
		{"slowly", reply{text: answer, slow: true}, reply{}},
		{"Open a ticket", reply{tool: "tickets_create_ticket", arguments: `{"title":"Rows with a blank VAT id are dropped","text":"Look at the country before the blank check."}`}, reply{text: "Ticket 4712 is open."}},
		{"chart.png", reply{text: "In March twice as many rows were dropped as in any other month.\n"}, reply{}},
		{"importer", reply{text: answer}, reply{}},
		{"", reply{text: "Gladly.\n"}, reply{}},
	}
}

// answerTo is the reply to a request.
func answerTo(body string, q asking) reply {
	said, after := q.said()
	switch {
	case strings.Contains(body, "You give a conversation its title"):
		return reply{text: "Blank VAT ids in the importer"}
	case strings.Contains(body, "lasting facts about the user"):
		return reply{text: facts(said)}
	}
	for _, r := range replies() {
		if !strings.Contains(said, r.words) {
			continue
		}
		if after && r.second != (reply{}) {
			return r.second
		}
		return r.first
	}
	return reply{}
}

// facts are suggested from a document with messages and with what is known.
func facts(said string) string {
	var text string
	var doc struct {
		Known []struct {
			ID, Text string
		}
		Messages []struct {
			N         int
			Who, Text string
		}
	}
	if json.Unmarshal([]byte(said), &text) != nil || json.Unmarshal([]byte(text), &doc) != nil {
		return `{"facts":[]}`
	}
	home := ""
	for _, k := range doc.Known {
		if strings.Contains(k.Text, "Hamburg") {
			home = k.ID
		}
	}
	for _, m := range doc.Messages {
		if strings.Contains(m.Text, "Bremen") && m.Who == "user" {
			return fmt.Sprintf(`{"facts":[{"action":"add","text":"Lives in Bremen","category":"person","source":%d,"quote":"I moved to Bremen last week","why":"A new home.","against":[%q]},`+
				`{"action":"add","text":"Wants table tests","category":"style","tags":["go"],"source":%d,"quote":"From now on I want table tests","why":"A lasting wish."}]}`, m.N, home, m.N)
		}
	}
	return `{"facts":[]}`
}

// models is a model server: it answers as the last message of the person asks.
func models() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/mcp", tickets())
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var q asking
		if err == nil {
			err = json.Unmarshal(body, &q)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		stream(w, r, answerTo(string(body), q))
	})
	return mux
}

// stream sends a reply. Where the other side is gone nothing is left to do.
func stream(w http.ResponseWriter, r *http.Request, a reply) {
	send := func(delta map[string]any, finish any) {
		line, _ := json.Marshal(map[string]any{ // strings and maps alone: it cannot fail
			"id": "x", "object": "chat.completion.chunk", "model": "gpt-5",
			"choices": []map[string]any{{"index": 0, "delta": delta, "finish_reason": finish}},
		})
		_, _ = fmt.Fprintf(w, "data: %s\n\n", line)
		w.(http.Flusher).Flush()
	}
	if a.slow {
		before, rest, _ := strings.Cut(a.text, stall)
		send(map[string]any{"role": "assistant", "content": before}, nil)
		select {
		case <-r.Context().Done():
			return
		case <-time.After(5 * time.Minute):
		}
		a.text = stall + rest
	}
	if a.text != "" {
		send(map[string]any{"role": "assistant", "content": a.text}, nil)
	}
	if a.tool == "" {
		send(map[string]any{}, "stop")
	} else {
		call := map[string]any{"index": 0, "id": fmt.Sprintf("c%d", time.Now().UnixNano()), "type": "function", "function": map[string]any{"name": a.tool, "arguments": a.arguments}}
		send(map[string]any{"role": "assistant", "tool_calls": []any{call}}, nil)
		send(map[string]any{}, "tool_calls")
	}
	_, _ = fmt.Fprint(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1840,\"completion_tokens\":212,\"total_tokens\":2052}}\n\ndata: [DONE]\n\n")
}
