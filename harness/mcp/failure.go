package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/oauth2"
)

// permanentError marks an error that trying again by itself does not mend.
type permanentError struct{ error }

func (e permanentError) Unwrap() error { return e.error }

func permanent(err error) error { return permanentError{err} }

func isPermanent(err error) bool {
	var p permanentError
	var status statusError
	var elsewhere elsewhereError
	var signIn signInError
	return errors.As(err, &p) || errors.As(err, &elsewhere) || errors.As(err, &signIn) || errors.As(err, &status) && status.code < http.StatusInternalServerError
}

// sentence is an error in words that are fit to be shown.
type sentence string

func (e sentence) Error() string { return string(e) }

// statusError is an answer of a server over HTTP that is none of the protocol.
type statusError struct{ code int }

func (e statusError) Error() string {
	switch e.code {
	case http.StatusUnauthorized:
		return "the server wants credentials (401 Unauthorized); set the header that it asks for, such as Authorization, in its headers"
	case http.StatusForbidden:
		return "the server refuses access (403 Forbidden); look whether the credentials in its headers are valid for it"
	case http.StatusNotFound:
		return "there is no MCP server at this address (404 Not Found); look whether the path of its url is right"
	case http.StatusMethodNotAllowed:
		return "the address does not take MCP messages (405 Method Not Allowed); look whether its url is that of a streamable HTTP server"
	}
	return fmt.Sprintf("the server answered %d %s", e.code, http.StatusText(e.code))
}

// refusedWords are those of a server that gives no token. What else it answered is not
// repeated.
func refusedWords(e *oauth2.RetrieveError) string {
	text := "the server gives no token"
	if e.Response != nil {
		text += fmt.Sprintf(" (%d %s)", e.Response.StatusCode, http.StatusText(e.Response.StatusCode))
	}
	return text + saidWords(e.ErrorCode, e.ErrorDescription)
}

// saidWords are the reasons of a server that refuses, behind a sentence.
func saidWords(code, description string) string {
	switch {
	case code == "":
		return ""
	case description == "":
		return "; it says: " + line(code)
	}
	return "; it says: " + line(code) + ": " + line(description)
}

// elsewhereError is a redirection that is not followed.
type elsewhereError struct{ host string }

func (e elsewhereError) Error() string {
	return "the server redirects to " + line(e.host) + ", which gets neither the headers nor the calls; if that is right, make it the url"
}

// explain says in a sentence what went wrong with a server. Nothing that it was given
// in confidence is in it.
func (l *link) explain(err error) string {
	return l.clean(plain(err))
}

// clean takes out of a text what the server was given in confidence.
func (l *link) clean(text string) string {
	if l.c.URL != "" {
		text = strings.ReplaceAll(text, l.c.URL, address(l.c.URL))
	}
	return l.secrets.Redact(text)
}

func plain(err error) string {
	var status statusError
	var elsewhere elsewhereError
	var dns *net.DNSError
	var op *net.OpError
	var at *url.Error
	var said sentence
	var gone goneError
	var signIn signInError
	var renew renewError
	var refused *oauth2.RetrieveError
	reply, replied := replyOf(err)
	switch {
	case errors.As(err, &gone):
		return plain(gone.why)
	case errors.As(err, &signIn):
		return signIn.Error()
	case errors.As(err, &renew):
		return renew.Error()
	case errors.As(err, &refused):
		return refusedWords(refused)
	case errors.As(err, &said):
		return string(said)
	case errors.As(err, &status):
		return status.Error()
	case errors.As(err, &elsewhere):
		return elsewhere.Error()
	case tooLong(err):
		return errTooLong.Error()
	case replied:
		return "the server says: " + line(reply.Message)
	case errors.Is(err, sdk.ErrSessionMissing):
		return "the server does not know the session any more"
	case errors.As(err, &dns):
		return "there is no host " + line(dns.Name)
	case errors.As(err, &op) && op.Op == "dial":
		return "nothing answers at its address (" + line(op.Err.Error()) + ")"
	case errors.Is(err, context.DeadlineExceeded):
		return "it did not answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, errEnded), errors.Is(err, sdk.ErrConnectionClosed):
		return errEnded.Error()
	case errors.As(err, &at):
		return line(at.Err.Error())
	}
	return line(err.Error())
}

// tooLong reports whether an error is of a message that is too long. Over HTTP the
// library tells of it in words only.
func tooLong(err error) bool {
	return errors.Is(err, errTooLong) || strings.Contains(err.Error(), errTooLong.Error()) || strings.Contains(err.Error(), "SSE event exceeded")
}

// unsent reports whether an error tells that the server did not get the request.
func unsent(err error) bool {
	var gone goneError
	if errors.As(err, &gone) {
		return false
	}
	var op *net.OpError
	var dns *net.DNSError
	var status statusError
	var elsewhere elsewhereError
	var signIn signInError
	var renew renewError
	return errors.As(err, &signIn) || errors.As(err, &renew) || errors.As(err, &op) && op.Op == "dial" || errors.As(err, &dns) || errors.Is(err, sdk.ErrSessionMissing) ||
		errors.As(err, &elsewhere) || errors.As(err, &status) && status.code < http.StatusInternalServerError
}

// answered reports whether an error is the server's own answer.
func answered(err error) bool {
	_, ok := replyOf(err)
	return ok
}

// replyOf returns the server's own answer of an error. The library has errors of its
// own in the same form, for a connection that is over and a request that was not sent.
func replyOf(err error) (*jsonrpc.Error, bool) {
	var reply *jsonrpc.Error
	if !errors.As(err, &reply) {
		return nil, false
	}
	switch reply.Message {
	case "server is closing", "client is closing", "rejected by transport":
		return nil, false
	}
	return reply, true
}

// goneError is a connection that ended while something was asked over it. What ended it
// says nothing of what was asked.
type goneError struct{ why error }

func (e goneError) Error() string { return "the connection was lost: " + e.why.Error() }
