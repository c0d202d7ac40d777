package modeltest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/model"
)

// key is the secret of all cases. It must turn up nowhere but in a header.
const key = "sk-test-0123456789-secret"

// Run runs the suite.
func Run(t *testing.T, s Subject) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, Subject){
		"CommentsAreSkipped":                      comments,
		"EveryFramingIsRead":                      framings,
		"EachEventArrivesAtOnce":                  promptness,
		"CharactersCutBetweenReadsStayWhole":      bytewise,
		"LongEventsArriveWhole":                   longEvents,
		"TooLongAnEventIsNamed":                   tooLong,
		"CallsAreToldApart":                       calls,
		"NoArgumentsAreAnObject":                  noArguments,
		"CutArgumentsAreNoCall":                   cutArguments,
		"AnErrorInTheStreamFailsTheReply":         failures,
		"AnEarlyEndFailsTheReply":                 earlyEnds,
		"AReasonWithoutAnEndIsWhole":              missingEnd,
		"UsageIsCountedOnce":                      usage,
		"ATruncatedReplySaysSo":                   truncated,
		"PagesInPlaceOfAnswersAreNamed":           pages,
		"SilenceCanBeStopped":                     silence,
		"SilenceEndsAtTheLimit":                   idle,
		"ARetryBeginsAfresh":                      retry,
		"OneAttemptIsOneRequest":                  attempts,
		"RefusalsAreSorted":                       refusals,
		"TheKeyStaysInItsHeader":                  secrecy,
		"RequestsAreLegal":                        requests,
		"IdsAreMadeLegalAndUnique":                ids,
		"ForeignSealsAreNotSent":                  seals,
		"TextThatStrictServersRefuseIsMended":     mended,
		"TheContextIsBehindTheStablePrefix":       placement,
		"TheStablePrefixStaysByteForByte":         prefix,
		"MarksAreFewAndAtTheEndsOfPrefixes":       marks,
		"FilesAreSent":                            files,
		"ImagesOfResultsFollowThem":               resultImages,
		"FilesAreThePersonsOnly":                  foreignFiles,
		"SchemasAreSentWhole":                     schemas,
		"CancelledBeforeItBeginsSendsNoText":      cancelled,
		"TheEnvironmentsKeysAreNotSentElsewhere":  environment,
		"RepeatedAndMissingIdsKeepTheCallsApart":  repeatedIDs,
		"AHalfEventAtTheEndIsNotTaken":            halfEvent,
		"AReplyWithoutTextIsEmptyAndNotAnError":   empty,
		"ABrokenConnectionAfterTheEndIsNoFailure": resetAfterEnd,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
}

// told is what a screen was told of a reply.
type told struct {
	text, thinking string
	kinds          []model.DeltaKind
}

// ask asks a model and returns its reply, what was streamed, and the error.
func ask(t *testing.T, m model.Model, r model.Request) (model.Reply, told, error) {
	t.Helper()
	return askWith(t.Context(), m, r, func(model.Delta) {})
}

func askWith(ctx context.Context, m model.Model, r model.Request, see func(model.Delta)) (model.Reply, told, error) {
	var seen told
	reply, err := m.Stream(ctx, r, func(d model.Delta) {
		see(d)
		seen.kinds = append(seen.kinds, d.Kind)
		switch d.Kind {
		case model.DeltaText:
			seen.text += d.Text
		case model.DeltaThinking:
			seen.thinking += d.Text
		case model.DeltaReset:
			seen.text, seen.thinking = "", ""
		default:
		}
	})
	return reply, seen, err
}

// hello is the plainest request.
func hello() model.Request {
	return model.Request{System: "Be brief.", Messages: []harness.Message{harness.UserText("hello")}, Tools: []model.ToolSpec{nowTool()}}
}

func nowTool() model.ToolSpec {
	return model.ToolSpec{Name: "now", Description: "Tells the time.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}
}

// wantText fails unless the reply is whole and is this text.
func wantText(t *testing.T, want string, reply model.Reply, seen told, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("got the error %v", err)
	}
	if got := (harness.Message{Parts: reply.Parts}).Text(); got != want {
		t.Fatalf("replied %s, want %s", short(got), short(want))
	}
	if seen.text != want {
		t.Fatalf("streamed %s, want %s", short(seen.text), short(want))
	}
	if reply.Stop != harness.StopEnd && reply.Stop != harness.StopTools {
		t.Fatalf("stopped for %q", reply.Stop)
	}
}

// wantError fails unless err is an *Error of this kind.
func wantError(t *testing.T, kind model.ErrorKind, err error) *model.Error {
	t.Helper()
	e, ok := model.AsError(err)
	if !ok {
		t.Fatalf("got %v (%T), want a model error of kind %s", err, err, kind)
	}
	if e.Kind != kind {
		t.Fatalf("got kind %s (%v), want %s", e.Kind, e, kind)
	}
	if strings.Contains(e.Error(), key) {
		t.Fatalf("the error tells the key: %v", e)
	}
	return e
}

func callsOf(r model.Reply) []harness.ToolCall { return harness.Message{Parts: r.Parts}.Calls() }

func short(s string) string {
	if len(s) > 200 {
		return s[:200] + "…"
	}
	return s
}

// story answers every request with the same events in a framing.
func story(t *testing.T, f Framing, events ...[]Event) *Service {
	t.Helper()
	return Serve(t, func(_ int, a *Answer) { a.Send(f, events...) })
}
