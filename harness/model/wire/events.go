package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"cairn/harness/model"
)

// MaxEvent bounds one event of a stream, in bytes. A larger one ends the reply
// with an error that names this limit.
const MaxEvent = 16 << 20

// done is the event with which OpenAI's streams end.
var done = []byte("[DONE]") //nolint:gochecknoglobals // a table that nobody changes

// errTooLong is the error of an event beyond [MaxEvent].
var errTooLong = fmt.Errorf("one event is larger than the limit of %d MiB", MaxEvent>>20)

// events is a response body of clean server-sent events: one "data" line of
// valid JSON each, no comments, no carriage returns. It ends without an error;
// whether the reply was whole is known to the exchange. Each event is passed on
// as soon as its blank line has arrived.
type events struct {
	t      *Transport
	x      *exchange
	header http.Header
	body   io.ReadCloser
	r      *bufio.Reader
	out    bytes.Buffer
	err    error
	// began says that a field was seen, so it is an event stream.
	began bool
	// name, data and lines are the event at hand.
	name  string
	data  []byte
	lines int
	line  []byte
}

func newEvents(t *Transport, x *exchange, resp *http.Response) *events {
	return &events{t: t, x: x, header: resp.Header.Clone(), body: resp.Body, r: bufio.NewReaderSize(resp.Body, 16<<10)}
}

// Close implements [io.Closer].
func (e *events) Close() error { return e.body.Close() }

// Read implements [io.Reader].
func (e *events) Read(p []byte) (int, error) {
	for e.out.Len() == 0 {
		if e.err != nil {
			return 0, e.err
		}
		e.step()
	}
	return e.out.Read(p)
}

// step reads one line and, if it ends an event, passes the event on.
func (e *events) step() {
	line, err := e.readLine()
	if errors.Is(err, errTooLong) {
		e.fail(&model.Error{Kind: model.KindProtocol, Provider: e.t.Provider, Message: err.Error(), Cause: err})
		return
	}
	if len(line) > 0 || err == nil {
		e.take(line)
	}
	if err != nil && e.err == nil {
		// An event whose blank line is missing counts if it is whole.
		if len(e.data) > 0 && (isDone(e.data) || json.Valid(e.data)) {
			e.dispatch()
		}
		e.end(err)
	}
}

// readLine returns the next line without its end. It is valid until the next
// call.
func (e *events) readLine() ([]byte, error) {
	e.line = e.line[:0]
	for {
		piece, err := e.r.ReadSlice('\n')
		if len(e.line)+len(piece)+len(e.data) > MaxEvent {
			return nil, errTooLong
		}
		if err == nil && len(e.line) == 0 {
			return bytes.TrimRight(piece, "\r\n"), nil
		}
		e.line = append(e.line, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(e.line, "\r\n"), err
		}
	}
}

// take adds one line to the event at hand.
func (e *events) take(line []byte) {
	if !e.began {
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		if first := bytes.TrimLeft(line, " \t"); len(first) > 0 && (first[0] == '<' || first[0] == '{' || first[0] == '[') {
			e.document(line)
			return
		}
	}
	if len(line) == 0 {
		e.dispatch()
		return
	}
	e.began = true
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "":
		e.x.alive()
	case "event":
		e.name = string(value)
	case "data":
		if e.lines > 0 {
			e.data = append(e.data, '\n')
		}
		e.data = append(e.data, value...)
		e.lines++
	}
}

// document handles a body that is no event stream: a web page or an error
// object with status 200.
func (e *events) document(first []byte) {
	body := append([]byte(nil), first...)
	rest, err := io.ReadAll(io.LimitReader(e.r, maxRefusal))
	body = append(append(body, '\n'), rest...)
	if failed := e.t.answer(0, e.header, body); first[0] == '<' || hasError(body) {
		e.fail(failed)
		return
	}
	if err != nil || !json.Valid(body) {
		e.fail(incomplete(e.t.Provider, err))
		return
	}
	e.fail(&model.Error{Kind: model.KindProtocol, Provider: e.t.Provider, Message: "the answer is not a stream; does the base URL lead to the right service?"})
}

// hasError reports whether a JSON document holds an error object.
func hasError(body []byte) bool {
	var one struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &one) == nil {
		return len(one.Error) > 0 && string(one.Error) != "null"
	}
	var list []struct {
		Error json.RawMessage `json:"error"`
	}
	return json.Unmarshal(body, &list) == nil && len(list) > 0 && len(list[0].Error) > 0
}

// dispatch passes the event at hand on.
func (e *events) dispatch() {
	name, data := e.name, bytes.TrimSpace(e.data)
	split := e.lines > 1
	e.name, e.data, e.lines = "", e.data[:0], 0
	switch {
	case len(data) == 0:
		return
	case isDone(data):
		e.write(name, data)
		e.end(io.EOF)
		return
	case !json.Valid(data):
		// Some servers break a line wherever they like.
		joined := bytes.ReplaceAll(data, []byte("\n"), nil)
		if !split || !json.Valid(joined) {
			e.fail(&model.Error{Kind: model.KindIncomplete, Provider: e.t.Provider, Retry: true, Message: "a piece of the stream is broken"})
			return
		}
		data = joined
	}
	if split {
		data = bytes.ReplaceAll(data, []byte("\n"), []byte(" "))
	}
	if bytes.Contains(data, []byte(`"error"`)) && hasError(data) {
		e.fail(e.t.answer(0, nil, data))
		return
	}
	out, failed := e.x.decoder.Event(name, data)
	if failed != nil {
		e.fail(failed)
		return
	}
	if len(out) == 0 || !e.around() {
		e.write(name, out)
	}
	if e.x.decoder.Done() {
		e.end(io.EOF)
	}
}

// around passes a piece of text on around the SDK if it may.
func (e *events) around() bool {
	t, ok := e.x.decoder.(Texter)
	if !ok || e.x.text == nil {
		return false
	}
	text, only := t.Text()
	switch {
	case !only:
		e.x.writing = false
		return false
	case e.x.writing && e.x.behind == 0:
		e.x.text(text)
		return true
	}
	e.x.writing = true
	e.x.behind++
	return false
}

func isDone(data []byte) bool { return bytes.Equal(bytes.TrimSpace(data), done) }

func (e *events) write(name string, data []byte) {
	if len(data) == 0 {
		e.x.alive()
		return
	}
	if e.t.Named {
		e.out.WriteString("event: " + eventName(name, data) + "\n")
	}
	e.out.WriteString("data: ")
	e.out.Write(data)
	e.out.WriteString("\n\n")
}

// eventName returns an event's name, from its type if the server gave none.
func eventName(name string, data []byte) string {
	if name != "" {
		return name
	}
	var event struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(data, &event) != nil {
		return ""
	}
	return event.Type
}

// end ends the stream after err, which is io.EOF at its orderly end.
func (e *events) end(err error) {
	switch {
	case e.x.decoder.Whole():
		// A connection that breaks after the reply takes nothing with it.
		e.err = io.EOF
	case errors.Is(err, io.EOF):
		e.fail(incomplete(e.t.Provider, nil))
	default:
		e.fail(incomplete(e.t.Provider, err))
	}
}

// fail records why the reply is no good. To the SDK the stream just ends: what
// it makes of an error is not asked for, and one of them logs it.
func (e *events) fail(failed *model.Error) {
	failed.Provider = e.t.Provider
	failed.Message = model.Sentence(failed.Message, e.t.Secrets...)
	_ = e.x.fail(failed) // the exchange keeps it
	e.err = io.EOF
}
