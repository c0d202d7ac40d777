package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"cairn/harness"
)

func (a *app) runsAnswer() *cobra.Command {
	cmd := a.decisionCommand("answer RUN [CALL] TEXT|-", "Answer a question of the model",
		"Answer a question of the model. The text is its answer as it stands; - reads it from standard input. With --choice it is left out.")
	choice := 0
	cmd.Flags().IntVar(&choice, "choice", 0, "answer with choice `N` of those that cairn runs show lists")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("choice") {
			return runAndCall(cmd, args)
		}
		if n := len(args); n < 2 || n > 3 {
			return usage("%s needs a run and the answer, in quotes if it has several words; see: %s --help", cmd.CommandPath(), cmd.CommandPath())
		}
		return nil
	}
	cmd.RunE = runner(func(ctx context.Context, args []string) error {
		text := ""
		if !cmd.Flags().Changed("choice") {
			var err error
			if text, err = a.typedAnswer(ctx, args); err != nil {
				return err
			}
			args = args[:len(args)-1]
		}
		return a.decide(ctx, deciding{
			run: args[0], call: callOf(args), fits: harness.Pending.Question,
			decision: func(p harness.Pending) (harness.Decision, error) {
				d := harness.Decision{How: harness.DecideAnswer, Text: text, By: a.by("runs answer")}
				if text != "" {
					return d, nil
				}
				var err error
				d.Text, err = chosen(p, choice)
				return d, err
			},
		})
	})
	return cmd
}

// typedAnswer is the last argument as an answer, or what it names.
func (a *app) typedAnswer(ctx context.Context, args []string) (string, error) {
	text, err := a.textOf(ctx, args[len(args)-1:])
	if err != nil {
		return "", err
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", usage("the answer is empty; to refuse one: cairn runs decline %s", args[0])
	}
	return text, validText("the answer", text)
}

// chosen is the choice with a number, from 1.
func chosen(p harness.Pending, n int) (string, error) {
	switch choices := p.Proposal.Choices; {
	case len(choices) == 0:
		return "", usage("--choice: the question offers no choices; give the answer in words")
	case n < 1 || n > len(choices):
		return "", usage("--choice must be from 1 to %d, not %d", len(choices), n)
	default:
		return choices[n-1], nil
	}
}
