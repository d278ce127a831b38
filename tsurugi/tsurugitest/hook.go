package tsurugitest

import (
	"sync/atomic"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
)

// A Kind is what a request asks for.
type Kind uint8

// The kinds of requests that hooks are asked about.
const (
	Other     Kind = iota
	Handshake      // a session begins
	Renewal        // its life is renewed
	Begin
	Prepare
	Execute // a statement, in text or prepared
	Query   // likewise
	Commit
	Rollback
	Describe
)

// String is the kind's name.
func (k Kind) String() string {
	return [...]string{"other", "handshake", "renewal", "begin", "prepare", "execute", "query", "commit", "rollback",
		"describe"}[k]
}

// A Request is what a hook is asked about.
type Request struct {
	Kind    Kind
	Session uint64
	SQL     string // of statements, also of prepared ones
	Params  int    // how many values come with it
}

// An Action is what becomes of a request.
type Action struct {
	does   does
	code   uint64
	detail string
	until  <-chan struct{}
}

type does uint8

const (
	proceed does = iota
	drop
	doAndDrop
	hang
	fail
	dissipate
	workOn
)

// Actions. A hook that does not care answers with the zero Action: the request is done.
var (
	Drop      = Action{does: drop}      // the connection is closed, and the request not done
	DoAndDrop = Action{does: doAndDrop} // it is done, and the connection closed before the answer
	Hang      = Action{does: hang}      // neither this request nor any other of the session is answered
)

// Dissipate drops the request and answers UNKNOWN, "request dissipated", as the server does when a failure inside
// leaves a request without an answer. The transaction is aborted.
var Dissipate = Action{does: dissipate}

// WorkOn works at the request until the channel is closed, and does it and answers then, even if the client has
// cancelled it meanwhile: the server hears of that too late. Other requests of the session wait.
func WorkOn(until <-chan struct{}) Action { return Action{does: workOn, until: until} }

// Fail answers with an error of the SQL service and aborts the transaction. The code is the protocol's, as a
// tsurugi.Code.
func Fail(code int, detail string) Action {
	return Action{does: fail, code: uint64(code), detail: detail}
}

const codeOCCRead = 203

// Conflict answers as when the transaction lost a conflict.
func Conflict() Action {
	return Fail(codeOCCRead, "Serialization failed: as the test wants it")
}

// A Hook says what becomes of a request. It is called by one goroutine of each session and must not block.
type Hook func(Request) Action

// Once does something to the first request of a kind that comes.
func Once(kind Kind, a Action) Hook { return Nth(kind, 1, a) }

// Nth does something to the n-th request of a kind that comes; the first is 1.
func Nth(kind Kind, n int, a Action) Hook {
	left := new(atomic.Int64)
	left.Store(int64(n))
	return func(r Request) Action {
		if r.Kind == kind && left.Add(-1) == 0 {
			return a
		}
		return Action{}
	}
}

// Times does something to the first n requests of a kind.
func Times(kind Kind, n int, a Action) Hook {
	left := new(atomic.Int64)
	left.Store(int64(n))
	return func(r Request) Action {
		if r.Kind == kind && left.Add(-1) >= 0 {
			return a
		}
		return Action{}
	}
}

func kindOf(k message.Kind) Kind {
	switch k {
	case message.Begin:
		return Begin
	case message.Prepare:
		return Prepare
	case message.Statement, message.PreparedStatement:
		return Execute
	case message.Query, message.PreparedQuery:
		return Query
	case message.Commit:
		return Commit
	case message.Rollback:
		return Rollback
	case message.DescribeTable:
		return Describe
	default:
		return Other
	}
}
