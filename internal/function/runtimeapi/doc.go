// Package runtimeapi is the server side of the Lambda Runtime API and Extensions API for one instance: the endpoint
// from which a runtime asks for invocations and to which it gives the answers. It knows no process and no pool; it
// tells a Handler what the runtime has done.
//
//	s, err := runtimeapi.Listen(runtimeapi.Config{Handler: h})
//	// start the runtime with AWS_LAMBDA_RUNTIME_API=s.Addr(); h.Asked is called when it is ready
//	s.Give(&runtimeapi.Invocation{ID: id, Body: event, …})    // h.Answered follows
//	s.Close()
//
// A runtime asks for its next invocation and then waits for the answer to that request. Its connection is read
// meanwhile, so that one that goes away is noticed; the invocation is written to it by whoever calls Give. So nothing
// lies between the two but one write and one read.
//
// The two requests that each invocation needs are read without net/http when they are of the usual form; everything
// else (streamed answers, Expect, extensions) is read by net/http's parser from the same buffer.
package runtimeapi

import "time"

// MaxPayload is how many bytes an event and an answer have at most, as the provider has it: 6 MiB and a little for what
// wraps them.
const MaxPayload = 6<<20 + 100

// MaxStream is how many bytes a streamed answer has at most.
const MaxStream = 200 << 20

// maxConns is how many connections the programs of one instance may have to the endpoint at once.
const maxConns = 64

// Invocation is an event for a runtime. It must not be changed once it was given.
type Invocation struct {
	ID            string
	ARN           string // of the function, as it was invoked
	TraceID       string // "" leaves the header out, as the ones below
	ClientContext string // JSON
	Cognito       string // JSON
	Deadline      time.Time
	Body          []byte
	// Stream takes the answer piece by piece while it comes; nil: it is collected in the Answer.
	Stream Stream

	given time.Time // when the runtime got it; the server's mu guards it
}

// Stream takes an answer piece by piece. Its methods are called by one goroutine. An error of Write ends the
// forwarding; the rest of the answer is read and dropped.
type Stream interface {
	// Begin is called before the first Write, also for an answer without any byte.
	Begin(contentType string)
	Write(p []byte) (int, error)
}

// Answer is what a runtime said to an invocation.
type Answer struct {
	At          time.Time // when all of it had come
	Body        []byte    // the receiver's; nil if it was streamed
	ContentType string
	// ErrorType is the kind of an error; "" for success. Failed tells the two apart when the runtime named no kind.
	ErrorType string
	Failed    bool
	// Streamed tells that the runtime sent it in pieces, and Bytes how many bytes went to the Stream.
	Streamed bool
	Bytes    int64
}

// Handler is told what the programs of an instance do. Its methods are called without any lock of the server, each call
// of one kind after the other.
type Handler interface {
	// Asked: the runtime and every extension wait for an invocation. The first call ends the initialisation.
	Asked()
	// Answered: the runtime has answered the invocation that it was given. Asked follows when it wants another.
	Answered(inv *Invocation, a Answer)
	// InitFailed: the runtime, or an extension, could not start. body is JSON as a rule.
	InitFailed(errorType string, body []byte)
	// ExtensionFailed: an extension says that it cannot go on.
	ExtensionFailed(name, errorType string)
}
