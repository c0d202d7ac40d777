package model

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"syscall"
)

// NetworkError turns a failed round trip to host into an *[Error]. The message
// names the host and the reason and never the address asked for, which may
// hold anything. secrets are taken out.
func NetworkError(provider, host string, err error, secrets ...string) *Error {
	// The outermost layer only repeats the address.
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	e := &Error{Kind: KindNetwork, Provider: provider, Retry: true, Unsent: unsent(err), Cause: redacted(err, secrets)}
	reason, final := reasonOf(err)
	switch {
	case refused(err) && isLoopback(host):
		// Nobody starts a server on this machine while we wait seconds.
		reason, final = "nothing listens there; is the server running?", true
	case reason == "":
		reason = Sentence(err.Error(), secrets...)
	}
	e.Retry = !final
	e.Message = Sentence(fmt.Sprintf("cannot reach %s: %s", host, reason), secrets...)
	return e
}

// reasonOf names the common failures in plain words and says which of them
// another attempt cannot mend.
func reasonOf(err error) (reason string, final bool) {
	var (
		dns      *net.DNSError
		unknown  x509.UnknownAuthorityError
		invalid  x509.CertificateInvalidError
		hostname x509.HostnameError
		record   tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "no such host", false
	case errors.As(err, &dns):
		return "the name could not be looked up", false
	case errors.As(err, &unknown), errors.As(err, &invalid), errors.As(err, &hostname):
		return "its certificate is not valid", true
	case errors.As(err, &record):
		return "it does not speak TLS", true
	case strings.Contains(err.Error(), "Proxy Authentication Required"), strings.Contains(err.Error(), "Forbidden"):
		return "the proxy refused the connection", true
	case refused(err):
		return "connection refused", false
	case errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		return "no answer in time", false
	}
	return "", false
}

// unsent reports whether a connection never came about: the host has no address,
// does not answer, or is not the one that it is to be.
func unsent(err error) bool {
	var (
		dns    *net.DNSError
		made   *net.OpError
		proof  *tls.CertificateVerificationError
		record tls.RecordHeaderError
	)
	return errors.As(err, &dns) || errors.As(err, &proof) || errors.As(err, &record) ||
		errors.As(err, &made) && (made.Op == "dial" || made.Op == "proxyconnect")
}

func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

// isLoopback reports whether host, with or without a port, is this machine.
func isLoopback(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return ip != nil && ip.IsLoopback()
}

// redacted returns err, or an error of its text without the secrets if it
// holds one.
func redacted(err error, secrets []string) error {
	text := err.Error()
	for _, s := range secrets {
		if len(s) >= minSecret && strings.Contains(text, s) {
			return errors.New(strings.ReplaceAll(text, s, "[key]"))
		}
	}
	return err
}
