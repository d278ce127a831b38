package push

import (
	"errors"
	"fmt"

	"golang.org/x/net/http2"
)

// The reasons for which a Send ends without a response. Result.Err wraps one of them, or a *StreamError or a
// *ConnectionError.
var (
	ErrDeadline = errors.New("the deadline passed before the far end answered")
	ErrCanceled = errors.New("canceled by the sender")
	ErrFull     = errors.New("too many requests are waiting for a stream; send more slowly, allow more connections, " +
		"or raise MaxWaiting")
	ErrClosed   = errors.New("the push client is closed")
	ErrTooOften = errors.New("the far end refused the request each time it was tried")
	ErrRequest  = errors.New("the request cannot be sent as HTTP")

	// ErrTooManyFields is about a request whose header is larger than the far end's SETTINGS allow.
	ErrTooManyFields = errors.New("the request's fields are more than the far end takes")
)

// A StreamError says that the far end gave up one request, or that its answer to it broke the protocol.
type StreamError struct {
	Code   http2.ErrCode
	Remote bool   // the far end's word (RST_STREAM); else ours
	Reason string // ours
}

func (e *StreamError) Error() string {
	if e.Remote {
		return fmt.Sprintf("the far end reset the stream (%v)", e.Code)
	}
	return fmt.Sprintf("the far end's answer is not HTTP/2: %s", e.Reason)
}

// A ConnectionError says that the connection ended under a request whose answer had not come.
type ConnectionError struct {
	Address string
	Err     error
}

func (e *ConnectionError) Error() string {
	return fmt.Sprintf("connection to %s: %v", e.Address, e.Err)
}
func (e *ConnectionError) Unwrap() error { return e.Err }

// A GoAwayError is why a connection ended when the far end ended it.
type GoAwayError struct {
	LastStream uint32
	Code       http2.ErrCode
	Debug      string // what the far end said, at most 256 bytes (APNs: a JSON object with a reason)
}

func (e *GoAwayError) Error() string {
	return fmt.Sprintf("the far end says goodbye after stream %d (%v) %q", e.LastStream, e.Code, e.Debug)
}

// A ProtocolError is a breach of HTTP/2 by the far end, for which the connection was closed with Code.
type ProtocolError struct {
	Code   http2.ErrCode
	Reason string
}

func (e *ProtocolError) Error() string { return fmt.Sprintf("%v: %s", e.Code, e.Reason) }

// Why connections are closed from our side.
var (
	errSilent  = errors.New("the far end does not answer a PING")
	errNoALPN  = errors.New("the far end does not speak HTTP/2 (ALPN h2)")
	errIdle    = errors.New("idle")
	errAge     = errors.New("old enough to be replaced")
	errDrained = errors.New("its last request is answered")
	errGivenUp = errors.New("its request was given up")
	errUnasked = errors.New("the far end answers where nothing was asked")
)
