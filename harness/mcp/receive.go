package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxWaiting bounds how many questions of a connection wait for the person at the
	// same time; what is asked beyond that is cancelled.
	maxWaiting = 4
	// maxQuestion bounds the schema of a question, in bytes.
	maxQuestion = 64 << 10
)

// guarded turns a request of a server that the library breaks over into a refusal: no
// message of a server ends this program.
func (v *live) guarded(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (result sdk.Result, err error) {
		defer func() {
			if broken := recover(); broken != nil {
				v.logs(slog.LevelWarn, "sends what cannot be read: "+line(method), slog.String("stack", string(debug.Stack())))
				result, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "this cannot be read"}
			}
		}()
		switch r := r.(type) {
		case *sdk.ElicitRequest:
			if r.Params == nil {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "a question has params"}
			}
		case *sdk.ElicitationCompleteNotificationRequest:
			if r.Params == nil { // the library would break while it holds a lock
				return nil, nil //nolint:nilnil // nobody answers a notification
			}
		case *sdk.LoggingMessageRequest: // servers of today say in this way what is wrong with them
			v.logs(slog.LevelInfo, line(fmt.Sprint(r.Params.Data)), slog.String("from", "log"))
		}
		return next(ctx, method, r)
	}
}

// unbroken calls the library. What it breaks over is an error.
func unbroken(do func() error) (err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = sentence("the server sent what cannot be read")
		}
	}()
	return do()
}

// logs writes what comes of the server's own words to the log, not for ever: a server
// could fill the disk with them.
func (v *live) logs(level slog.Level, text string, attrs ...slog.Attr) {
	if n := v.logged.Add(1); n > maxLogged {
		return
	}
	v.l.m.log(level, v.l.c.Name, v.l.clean(text), attrs...)
}

// waits takes a place among the questions that wait for the person, and reports
// whether there was one; done gives it back.
func (v *live) waits() (done func(), ok bool) {
	if v.waiting.Add(1) > maxWaiting {
		v.waiting.Add(-1)
		return nil, false
	}
	return func() { v.waiting.Add(-1) }, true
}

// askable says why the schema of a question is not put to anybody. One that refers to
// others, or to itself, is none that the protocol has, and checking an answer against
// it might never end.
func askable(raw []byte) error {
	if len(raw) > maxQuestion {
		return fmt.Errorf("its schema has %d bytes", len(raw))
	}
	var schema any
	if err := json.Unmarshal(raw, &schema); err != nil {
		return fmt.Errorf("read the question: %w", err)
	}
	if refers(schema) {
		return errors.New("its schema refers to other schemas")
	}
	return nil
}

// refers reports whether a schema refers to another one.
func refers(schema any) bool {
	switch x := schema.(type) {
	case map[string]any:
		for key, value := range x {
			if strings.HasPrefix(key, "$") && strings.HasSuffix(strings.ToLower(key), "ref") || refers(value) {
				return true
			}
		}
	case []any:
		for _, value := range x {
			if refers(value) {
				return true
			}
		}
	}
	return false
}
