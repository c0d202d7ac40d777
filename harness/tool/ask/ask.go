// Package ask has the tools with which a model turns to the person: ask_user
// puts a question, write_todos shows what is planned. The one thing to know: an
// answer is a person's decision about the call and never comes out of the tool;
// the tool itself runs only where nobody can be asked, and says so.
package ask

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"cairn/harness"
	"cairn/harness/tool"
)

// The names of the tools.
const (
	AskTool   = "ask_user"
	TodosTool = "write_todos"
)

const (
	// maxQuestion and maxChoice bound a question and each of its choices, in
	// characters; maxChoices is how many can be told apart by one digit.
	maxQuestion = 4_000
	maxChoice   = 200
	maxChoices  = 8
)

// Nobody is the result of a question where there is nobody to answer it.
const Nobody = "Nobody is here to answer. Go on without an answer: assume what the user most likely wants, " +
	"prefer what can be undone, and say in your reply which assumption you made."

// Register adds ask_user and write_todos.
func Register(set *tool.Set) error {
	question, err := tool.New(AskTool, "Ask the user one question and wait for the answer. Only if you cannot go on without it, and never for permission: what needs permission asks for it by itself.",
		run, tool.WithPermission(tool.Ask), tool.WithReplay(tool.Safe), tool.WithPropose(propose), tool.Question())
	if err != nil {
		return fmt.Errorf("register the tools that ask: %w", err)
	}
	todos, err := todosTool()
	if err != nil {
		return fmt.Errorf("register the tools that ask: %w", err)
	}
	for _, t := range []tool.Tool{question, todos} {
		if err := set.Add(t); err != nil {
			return fmt.Errorf("register the tools that ask: %w", err)
		}
	}
	return nil
}

type questionIn struct {
	Question string   `json:"question" jsonschema:"the question, with all that is needed to answer it"`
	Choices  []string `json:"choices,omitempty" jsonschema:"up to 8 short answers to choose from; the user may also answer in other words"`
}

// read takes the arguments apart and refuses what cannot be asked.
func (in questionIn) read() (question string, choices []string, err error) {
	question = strings.TrimSpace(in.Question)
	switch n := utf8.RuneCountInString(question); {
	case n == 0:
		return "", nil, errors.New("the question is empty")
	case n > maxQuestion:
		return "", nil, fmt.Errorf("the question has %d characters, at most %d are allowed", n, maxQuestion)
	}
	for i, c := range in.Choices {
		c = strings.Join(strings.Fields(c), " ")
		switch n := utf8.RuneCountInString(c); {
		case n == 0:
			return "", nil, fmt.Errorf("choice %d is empty", i+1)
		case n > maxChoice:
			return "", nil, fmt.Errorf("choice %d has %d characters, at most %d are allowed", i+1, n, maxChoice)
		}
		if !slices.Contains(choices, c) {
			choices = append(choices, c)
		}
	}
	if len(choices) > maxChoices {
		return "", nil, fmt.Errorf("there are %d choices, at most %d are allowed", len(choices), maxChoices)
	}
	return question, choices, nil
}

// propose shows the question.
func propose(_ context.Context, c tool.Call) (harness.Proposal, error) {
	var in questionIn
	if err := decode(c.Input, &in); err != nil {
		return harness.Proposal{}, err
	}
	question, choices, err := in.read()
	if err != nil {
		return harness.Proposal{}, err
	}
	return harness.Proposal{Kind: harness.ProposalQuestion, Body: question, Choices: choices}, nil
}

// run is reached where nobody can be asked.
func run(_ context.Context, _ tool.Call, in questionIn) (string, error) {
	if _, _, err := in.read(); err != nil {
		return "", err
	}
	return Nobody, nil
}
