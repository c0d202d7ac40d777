package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxRequest bounds one request, in bytes: what may be suggested is far shorter.
const maxRequest = 4 << 20

func newReader(in io.Reader) *bufio.Reader { return bufio.NewReaderSize(in, 64<<10) }

// requests passes on the lines that are messages. The library ends a connection
// over the first line that is none; here that line is refused and the next one
// read. It ends a connection with its input, too; here the input ends once all
// that was asked is answered, or ctx ends.
type requests struct {
	ctx     context.Context //nolint:containedctx // what reads has none to give
	from    *bufio.Reader
	answers *answers
	log     *slog.Logger
	// rest is what of a line was not read yet, end what comes after it.
	rest []byte
	end  error
}

// Read implements io.Reader.
func (r *requests) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.end != nil {
			r.answers.wait(r.ctx)
			return 0, r.end
		}
		var line []byte
		line, r.end = r.line()
		if r.passes(line) {
			r.rest = append(line, '\n')
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// line reads a line without its end; one that is too long is cut.
func (r *requests) line() ([]byte, error) {
	var line []byte
	for {
		part, err := r.from.ReadSlice('\n')
		if room := maxRequest + 1 - len(line); room > 0 {
			line = append(line, part[:min(len(part), room)]...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(line), err
		}
	}
}

// passes reports whether a line is a message, and refuses it if not.
func (r *requests) passes(line []byte) bool {
	code := int64(jsonrpc.CodeInvalidRequest)
	var why string
	switch {
	case len(line) == 0:
		return false
	case len(line) > maxRequest:
		why = fmt.Sprintf("a request has at most %d MiB", maxRequest>>20)
	case !json.Valid(line):
		code, why = jsonrpc.CodeParseError, "this line is no JSON"
	case line[0] == '[':
		why = "send one request a line: lists of them are not read"
	default:
		m, err := jsonrpc.DecodeMessage(line)
		if err == nil {
			r.answers.expect(m)
			return true
		}
		why = "this line is no JSON-RPC 2.0 message"
	}
	r.log.Warn("MCP request refused", slog.String("why", why))
	r.answers.refuse(code, why)
	return false
}

// answers writes one line at a time, and knows what is not answered yet.
type answers struct {
	mu   sync.Mutex
	to   io.Writer
	open map[any]bool
	// none is closed when nothing is open; nil if nobody waits for that.
	none chan struct{}
}

// Write implements io.Writer.
func (a *answers) Write(p []byte) (int, error) {
	m, err := jsonrpc.DecodeMessage(bytes.TrimSpace(p))
	a.mu.Lock()
	defer a.mu.Unlock()
	n, writeErr := a.to.Write(p)
	if r, ok := m.(*jsonrpc.Response); ok && err == nil {
		a.settle(r.ID.Raw())
	}
	return n, writeErr
}

// Close implements io.Closer; the output is its owner's to close.
func (a *answers) Close() error { return nil }

// refuse answers a line that has no id to answer to.
func (a *answers) refuse(code int64, why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	// If nobody reads, the next answer tells so.
	_, _ = fmt.Fprintf(a.to, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`+"\n", code, why)
}

// expect notes that a message wants an answer, or that another one's is not
// wanted any more.
func (a *answers) expect(m jsonrpc.Message) {
	r, ok := m.(*jsonrpc.Request)
	if !ok {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.IsCall() {
		if a.open == nil {
			a.open = map[any]bool{}
		}
		a.open[r.ID.Raw()] = true
		return
	}
	var of struct {
		ID any `json:"requestId"`
	}
	if r.Method == "notifications/cancelled" && json.Unmarshal(r.Params, &of) == nil {
		if id, err := jsonrpc.MakeID(of.ID); err == nil {
			a.settle(id.Raw())
		}
	}
}

// settle takes a request from those that are open. The caller holds the lock.
func (a *answers) settle(id any) {
	delete(a.open, id)
	if len(a.open) == 0 && a.none != nil {
		close(a.none)
		a.none = nil
	}
}

// endsWithin bounds how long the end of the input waits for answers: a request that
// takes longer ends with its client.
const endsWithin = 10 * time.Second

// wait returns when nothing is open any more, ctx ends, or it took too long.
func (a *answers) wait(ctx context.Context) {
	a.mu.Lock()
	if len(a.open) == 0 {
		a.mu.Unlock()
		return
	}
	if a.none == nil {
		a.none = make(chan struct{})
	}
	none := a.none
	a.mu.Unlock()
	limit := time.NewTimer(endsWithin)
	defer limit.Stop()
	select {
	case <-none:
	case <-limit.C:
	case <-ctx.Done():
	}
}
