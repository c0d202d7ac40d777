package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxRequest bounds one request, in bytes: what may be suggested is far shorter.
const maxRequest = 4 << 20

func newReader(in io.Reader) *bufio.Reader { return bufio.NewReaderSize(in, 64<<10) }

// requests passes on the lines that are messages. The library ends a connection
// over the first line that is none; here that line is refused and the next one
// read.
type requests struct {
	from   *bufio.Reader
	refuse func(code int64, why string)
	log    *slog.Logger
	// rest is what of a line was not read yet, end what comes after it.
	rest []byte
	end  error
}

// Read implements io.Reader.
func (r *requests) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.end != nil {
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
	code, why := int64(jsonrpc.CodeInvalidRequest), ""
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
		if _, err := jsonrpc.DecodeMessage(line); err == nil {
			return true
		}
		why = "this line is no JSON-RPC 2.0 message"
	}
	r.log.Warn("MCP request refused", slog.String("why", why))
	r.refuse(code, why)
	return false
}

// answers writes one line at a time.
type answers struct {
	mu sync.Mutex
	to io.Writer
}

// Write implements io.Writer.
func (a *answers) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.to.Write(p)
}

// Close implements io.Closer; the output is its owner's to close.
func (a *answers) Close() error { return nil }

// refuse answers a line that has no id to answer to.
func (a *answers) refuse(code int64, why string) {
	// If nobody reads, the next answer tells so.
	_, _ = fmt.Fprintf(a, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`+"\n", code, why)
}
