package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// MaxMessage bounds one message of a server, in bytes. A connection over which a
// longer one comes is ended, with an error that says so.
const MaxMessage = 32 << 20

// errTooLong is a message that is longer than what is taken.
var errTooLong = fmt.Errorf("the server sent a message of more than %d MiB, which is the most that is taken", MaxMessage>>20)

// maxOpen bounds how many requests of a server wait for their answers to be written.
const maxOpen = 1000

// errFlood is a server that asks on and on and reads no answer.
var errFlood = fmt.Errorf("the server has asked more than %d times and reads no answer", maxOpen)

// errEnded is the end of a server's output.
var errEnded = errors.New("the server ended the connection")

// maxJunk bounds what is shown of output that is no message, in bytes.
const maxJunk = 300

// pipe is a connection over the standard input and output of a program, one message a
// line. What is no message is passed over: programs greet, warn and print traces.
type pipe struct {
	in  *bufio.Reader
	rc  io.Closer
	out io.WriteCloser
	// junk is told what is no message.
	junk func(text string)
	// failed is told why the connection is over.
	failed func(error)

	send   chan []byte
	closed chan struct{}
	once   sync.Once
	// open counts the requests that are not answered yet.
	open atomic.Int64
	// queue are messages that came together. Reads are one after the other.
	queue []jsonrpc.Message
}

var _ sdk.Connection = (*pipe)(nil)

// newPipe speaks over out and hears over in.
func newPipe(in io.ReadCloser, out io.WriteCloser, junk func(string), failed func(error)) *pipe {
	p := &pipe{
		in: bufio.NewReaderSize(in, 64<<10), rc: in, out: out, junk: junk, failed: failed,
		send: make(chan []byte), closed: make(chan struct{}),
	}
	go p.writes()
	return p
}

// Connect implements [sdk.Transport]: the connection is there already.
func (p *pipe) Connect(context.Context) (sdk.Connection, error) { return p, nil }

// SessionID implements [sdk.Connection].
func (p *pipe) SessionID() string { return "" }

// writes writes what is to be sent. A program that does not read holds up nobody else
// but what is sent to it.
func (p *pipe) writes() {
	for {
		select {
		case data := <-p.send:
			if _, err := p.out.Write(data); err != nil {
				p.over(fmt.Errorf("%w: %w", errEnded, err))
				return
			}
		case <-p.closed:
			return
		}
	}
}

// Write implements [sdk.Connection].
func (p *pipe) Write(ctx context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	select {
	case p.send <- append(data, '\n'):
		if _, answer := m.(*jsonrpc.Response); answer {
			p.open.Add(-1)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-p.closed:
		return errEnded
	}
}

// Read implements [sdk.Connection].
func (p *pipe) Read(context.Context) (jsonrpc.Message, error) {
	for len(p.queue) == 0 {
		text, err := readLine(p.in, MaxMessage)
		if err == nil || errors.Is(err, io.EOF) && len(text) > 0 {
			p.queue = p.messages(text)
			continue
		}
		if errors.Is(err, errTooLong) {
			p.over(err)
			return nil, err
		}
		p.over(errEnded)
		return nil, io.EOF
	}
	next := p.queue[0]
	p.queue = p.queue[1:]
	if r, ok := next.(*jsonrpc.Request); ok && r.IsCall() && p.open.Add(1) > maxOpen {
		p.over(errFlood)
		return nil, errFlood
	}
	return next, nil
}

// messages reads the messages of a line: one, or several in a list as old versions of
// the protocol have it.
func (p *pipe) messages(text []byte) []jsonrpc.Message {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return nil
	}
	parts := []json.RawMessage{text}
	if text[0] == '[' {
		if err := json.Unmarshal(text, &parts); err != nil {
			parts = nil
		}
	}
	var all []jsonrpc.Message
	for _, part := range parts {
		m, err := decode(part)
		if err != nil {
			return p.skip(text)
		}
		all = append(all, m)
	}
	if len(all) == 0 {
		return p.skip(text)
	}
	return all
}

// decode reads one message. The library is trusted with no text of a server that it
// may break over.
func decode(text []byte) (m jsonrpc.Message, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			m, err = nil, fmt.Errorf("not a message: %v", broken)
		}
	}()
	if len(text) == 0 || text[0] != '{' || !json.Valid(text) {
		return nil, errors.New("not a message")
	}
	if m, err = jsonrpc.DecodeMessage(text); err == nil && m == nil {
		err = errors.New("not a message")
	}
	if err == nil {
		m = inOrder(m)
	}
	return m, err
}

func (p *pipe) skip(text []byte) []jsonrpc.Message {
	p.junk(string(text[:min(len(text), maxJunk)]))
	return nil
}

// Close implements [sdk.Connection].
func (p *pipe) Close() error {
	p.over(errEnded)
	return p.rc.Close()
}

// over ends the connection, for a reason of which the first counts.
func (p *pipe) over(why error) {
	p.once.Do(func() {
		close(p.closed)
		_ = p.out.Close() // it tells the program to end, and nobody waits for more
		p.failed(why)
	})
}

// readLine reads a line without its end, at most limit bytes of it.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var text []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(text)+len(part) > limit+1 {
			return nil, errTooLong
		}
		switch {
		case err == nil && text == nil:
			return bytes.Clone(bytes.TrimSuffix(part, []byte("\n"))), nil
		case err == nil:
			return append(text, bytes.TrimSuffix(part, []byte("\n"))...), nil
		case errors.Is(err, bufio.ErrBufferFull):
			text = append(text, part...)
		default:
			return append(text, part...), err
		}
	}
}
