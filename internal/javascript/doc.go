// Package javascript runs functions of others, written in JavaScript, that change messages. A function comes from
// whoever may make a topic, so it runs in a process of its own, started from this program's file: a death there,
// whether of memory, of the stack or of time, is the error of one message.
//
//	func main() {
//		javascript.Child() // first: of a process that only runs functions it does not return
//		…
//	}
//
//	pool := javascript.New(javascript.Options{})
//	defer pool.Close()
//	err := pool.Check(ctx, f)                        // it parses, and there is a function of that name
//	results, err := pool.Run(ctx, functions, msgs)   // each function on each message, in their order
//
// A process is started when it is needed and ends after a minute without work. The kernel bounds its memory, its files
// and what it may write; it has no environment. The engine (goja) is Go without unsafe conversions of what the code
// says, and gives the code neither files nor a network nor a clock that wakes it.
//
// It needs Linux: elsewhere nothing bounds the memory of a process, and New's Pool answers ErrUnsupported.
package javascript

import (
	"errors"
	"time"
)

// Function is one of JavaScript.
type Function struct {
	Name string // of the function in Code
	Code string
}

// Message is what a function is given and gives.
type Message struct {
	Data       []byte // UTF-8, as functions see texts
	Attributes map[string]string

	// What a function can read alone.
	ID   string
	Key  string
	Time time.Time
}

// Result is what became of a message.
type Result struct {
	Message       // Data and Attributes; the rest is as it was
	Dropped bool  // a function returned null
	Err     error // a *FunctionError, or ErrLate: it was not its turn
}

// FunctionError says why a function gave no message.
type FunctionError struct {
	Function string
	Reason   string
}

func (e *FunctionError) Error() string { return "function " + e.Function + ": " + e.Reason }

// Errors of a Pool.
var (
	ErrClosed      = errors.New("functions of JavaScript are not run any more: the pool is closed")
	ErrUnsupported = errors.New("functions of JavaScript are run on Linux alone, where the kernel bounds their memory")
	ErrLate        = errors.New("there was no time left to run the function")
	ErrTooLarge    = errors.New("the messages are too large to be given to a function")
)

// Bounds.
const (
	// MessageTime is how long all functions of a Run may take for a message, unless Options say otherwise: of a
	// processor; four times as long where others have them.
	MessageTime = 500 * time.Millisecond
	// maxFrame is the most bytes that go to a process or come from it at once.
	maxFrame = 32 << 20
	// maxResult is the most bytes that a message may have afterwards.
	maxResult = 10 << 20
	// maxPrograms is how many functions a process keeps compiled.
	maxPrograms = 64
)
