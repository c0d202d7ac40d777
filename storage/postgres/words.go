package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// Codes of the server that are told in other words than its own.
const (
	codeUnknownDatabase  = "3D000"
	codeBadPassword      = "28P01"
	codeNotLetIn         = "28000"
	codeTooMany          = "53300"
	codeStarting         = "57P03"
	codeShutDown         = "57P01"
	codeCrashed          = "57P02"
	codeStoodStill       = "57P05"
	codeConflict         = "40001"
	codeDeadlock         = "40P01"
	codeNotAllowed       = "42501"
	codeDuplicateTable   = "42P07"
	codeUnknownColumn    = "42703"
	classConnectionTrade = "08"
)

// serverError is an error of the server or of the way to it, in words for people.
type serverError struct {
	text string
	err  error
}

// Error implements error.
func (e *serverError) Error() string { return e.text }

// Unwrap returns what the words are about.
func (e *serverError) Unwrap() error { return e.err }

// explain says of an error that came from the server or the way to it what is
// wrong and what to do. Others are returned as they are.
func (p place) explain(err error) error {
	var told *serverError
	if err == nil || errors.As(err, &told) {
		return err
	}
	if text := p.words(err); text != "" {
		return &serverError{text, err}
	}
	return err
}

func (p place) words(err error) string {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return p.refusal(refused)
	}
	var unknown *net.DNSError
	var network net.Error
	var connect *pgconn.ConnectError
	switch {
	case errors.As(err, &unknown):
		return fmt.Sprintf("the host of PostgreSQL at %s cannot be found: correct its name, or look whether there is a network", p.server)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("nothing listens at %s: start PostgreSQL there, or correct the host and port", p.server)
	case errors.Is(err, syscall.ENOENT) && strings.HasPrefix(p.server, "/"):
		return fmt.Sprintf("no PostgreSQL has a socket in %s: start it, or correct the directory", p.server)
	case errors.Is(err, context.Canceled):
		return ""
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return fmt.Sprintf("PostgreSQL at %s did not answer in time: look whether it runs and can be reached from here", p.server)
	case strings.Contains(err.Error(), "refused TLS"):
		return fmt.Sprintf("PostgreSQL at %s takes no encrypted connections: add sslmode=disable to the address if the network is trusted", p.server)
	case errors.As(err, &connect):
		why := strings.Join(strings.Fields(connect.Unwrap().Error()), " ")
		return fmt.Sprintf("no connection to PostgreSQL at %s; look whether that is what answers there (%.300s)", p.server, why)
	case away(err):
		return fmt.Sprintf("PostgreSQL at %s went away; it is tried again with the next request", p.server)
	}
	return ""
}

// refusal puts what the server says in words. Its own never hold a password.
func (p place) refusal(e *pgconn.PgError) string {
	switch e.Code {
	case codeBadPassword:
		return fmt.Sprintf("PostgreSQL at %s refuses user %q: correct the user or the password in the address", p.server, p.user)
	case codeNotLetIn:
		return fmt.Sprintf("PostgreSQL at %s does not let user %q in (%s): correct the user, or have pg_hba.conf allow it", p.server, p.user, e.Message)
	case codeUnknownDatabase:
		return fmt.Sprintf("PostgreSQL at %s has no database %q: make it with createdb, or correct the name", p.server, p.database)
	case codeTooMany:
		return fmt.Sprintf("PostgreSQL at %s takes no more connections: close others, or raise its max_connections", p.server)
	case codeStarting:
		return fmt.Sprintf("PostgreSQL at %s starts or stops just now: try again in a moment", p.server)
	case codeShutDown, codeCrashed:
		return fmt.Sprintf("PostgreSQL at %s was stopped; it is tried again with the next request", p.server)
	case codeNotAllowed:
		return fmt.Sprintf("user %q may not do that in %s (%s): have the owner of the database allow it, or make the schema with: CREATE SCHEMA %s AUTHORIZATION …",
			p.user, p.name, e.Message, p.quoted())
	default:
		return fmt.Sprintf("PostgreSQL at %s: %s (%s)", p.server, e.Message, e.Code)
	}
}

// away reports whether the connection, not the request, is what failed: the same
// can be tried on another one.
func away(err error) bool {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		switch refused.Code {
		case codeStarting, codeShutDown, codeCrashed, codeStoodStill:
			return true
		}
		return strings.HasPrefix(refused.Code, classConnectionTrade)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var connect *pgconn.ConnectError
	var network *net.OpError
	return errors.As(err, &connect) || errors.As(err, &network) || pgconn.SafeToRetry(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

// conflict reports whether the server undid a transaction because of others.
func conflict(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && (refused.Code == codeConflict || refused.Code == codeDeadlock)
}
