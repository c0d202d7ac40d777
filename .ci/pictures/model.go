package main

import (
	"encoding/json"
	"fmt"
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

// models is a model server: it answers as the last message of the person asks.
func models() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Messages []struct {
				Role    string          `json:"role"`
				Content json.RawMessage `json:"content"`
			} `json:"messages"`
			Tools []json.RawMessage `json:"tools"`
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		said, after := "", false
		for _, m := range q.Messages {
			switch m.Role {
			case "user":
				said, after = string(m.Content), false
			case "tool":
				after = true
			}
		}
		w.Header().Set("Content-Type", "text/event-stream")
		send := func(delta string, finish string) {
			fmt.Fprintf(w, "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"model\":\"gpt-5\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n", delta, finish)
			w.(http.Flusher).Flush()
		}
		text := func(s string) {
			quoted, _ := json.Marshal(s)
			send(`{"role":"assistant","content":`+string(quoted)+`}`, "null")
		}
		switch {
		case strings.Contains(said, "run the tests") && !after && len(q.Tools) > 0:
			send(`{"role":"assistant","tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"run_command","arguments":"{\"command\":\"go test ./importer/...\"}"}}]}`, "null")
			send("{}", `"tool_calls"`)
		case strings.Contains(said, "slowly"):
			before, rest, _ := strings.Cut(answer, stall)
			text(before)
			select {
			case <-r.Context().Done():
				return
			case <-time.After(time.Minute):
			}
			text(rest)
			send("{}", `"stop"`)
		case strings.Contains(said, "importer"):
			text(answer)
			send("{}", `"stop"`)
		default:
			text("Invoice import")
			send("{}", `"stop"`)
		}
		fmt.Fprint(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1840,\"completion_tokens\":212,\"total_tokens\":2052}}\n\ndata: [DONE]\n\n")
	})
	return mux
}
