package ask

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"cairn/harness/tool"
)

// What a list of todos may hold.
const (
	// MaxTodos is how many items a list has at most.
	MaxTodos = 50
	// MaxTodo is how long the text of an item is at most, in characters.
	MaxTodo = 200
)

// TodoStatus says how far an item is.
type TodoStatus string

// The statuses of an item.
const (
	TodoPending    TodoStatus = "pending"
	TodoInProgress TodoStatus = "in_progress"
	TodoCompleted  TodoStatus = "completed"
)

// Todo is one item of a list. Its text is the model's and not safe to print.
type Todo struct {
	Text   string     `json:"text"`
	Status TodoStatus `json:"status,omitempty"`
}

// todosSchema is written out because the statuses are a list to choose from.
const todosSchema = `{"type":"object","properties":{"todos":{"type":"array","maxItems":50,` +
	`"description":"the whole list, in order; it replaces the one before","items":{"type":"object","properties":{` +
	`"text":{"type":"string","description":"what is to be done, at most 200 characters"},` +
	`"status":{"type":"string","enum":["pending","in_progress","completed"],"description":"pending if left out; one item at most is in_progress"}},` +
	`"required":["text"],"additionalProperties":false}}},"required":["todos"],"additionalProperties":false}`

type todosIn struct {
	Todos []Todo `json:"todos"`
}

// Todos returns the list that a call of [TodosTool] with this input sets.
func Todos(input json.RawMessage) ([]Todo, error) {
	var in todosIn
	if err := decode(input, &in); err != nil {
		return nil, err
	}
	list, _, err := tidy(in.Todos)
	return list, err
}

func todosTool() (tool.Tool, error) {
	t, err := tool.New(TodosTool, "Show the user the list of what you are going to do, and how far you are. Give the whole list each time. Only for work of three or more steps.",
		write, tool.WithPermission(tool.Allow), tool.WithReplay(tool.Safe))
	t.Schema = json.RawMessage(todosSchema)
	return t, err
}

func write(_ context.Context, _ tool.Call, in todosIn) (string, error) {
	list, back, err := tidy(in.Todos)
	if err != nil {
		return "", err
	}
	return listText(list, back), nil
}

// tidy checks a list. Of the items in progress all but the first are set back
// to pending; it returns their numbers.
func tidy(items []Todo) (list []Todo, back []int, err error) {
	if len(items) > MaxTodos {
		return nil, nil, fmt.Errorf("the list has %d items, at most %d are allowed", len(items), MaxTodos)
	}
	busy := false
	for i, t := range items {
		t.Text = strings.Join(strings.Fields(t.Text), " ")
		switch n := utf8.RuneCountInString(t.Text); {
		case n == 0:
			return nil, nil, fmt.Errorf("item %d has no text", i+1)
		case n > MaxTodo:
			return nil, nil, fmt.Errorf("item %d has %d characters, at most %d are allowed", i+1, n, MaxTodo)
		}
		switch t.Status {
		case "":
			t.Status = TodoPending
		case TodoInProgress:
			if busy {
				t.Status = TodoPending
				back = append(back, i+1)
			}
			busy = true
		case TodoPending, TodoCompleted:
		default:
			return nil, nil, fmt.Errorf("item %d has the status %q; there are pending, in_progress and completed", i+1, t.Status)
		}
		list = append(list, t)
	}
	return list, back, nil
}

// listText is the list as the model reads it.
func listText(list []Todo, back []int) string {
	if len(list) == 0 {
		return "The list is empty."
	}
	var b strings.Builder
	done := 0
	for i, t := range list {
		fmt.Fprintf(&b, "%d. [%s] %s\n", i+1, t.Status, t.Text)
		if t.Status == TodoCompleted {
			done++
		}
	}
	fmt.Fprintf(&b, "(%d of %d completed)", done, len(list))
	if len(back) == 0 {
		return b.String()
	}
	numbers := make([]string, len(back))
	for i, n := range back {
		numbers[i] = strconv.Itoa(n)
	}
	fmt.Fprintf(&b, "\nOnly one item can be in progress; set back to pending: %s.", strings.Join(numbers, ", "))
	return b.String()
}

// decode reads arguments. Those of a call that reached a tool fit its schema.
func decode(input []byte, into any) error {
	if err := json.Unmarshal(input, into); err != nil {
		return fmt.Errorf("read the arguments: %w", err)
	}
	return nil
}
