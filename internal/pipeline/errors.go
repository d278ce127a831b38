package pipeline

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrStarted: Run was called a second time.
	ErrStarted = errors.New("pipeline was already run: make a new one")
	// ErrNoStore: Run needs Options.Store for dead letters.
	ErrNoStore = errors.New("pipeline has no store for its dead letters")
	// ErrStopping is what Out.Send answers when the pipeline stops: the delivery was not taken.
	ErrStopping = errors.New("pipeline is stopping")
	// ErrNoMessage is what Out.Send answers to a delivery without a message.
	ErrNoMessage = errors.New("delivery has no message")
)

// GraphError says what is wrong with one node of a graph.
type GraphError struct {
	Node  string
	Input string // the entry of Node.Inputs that is wrong; "": the node as a whole
	Msg   string
	Hint  string // what to do; may be ""
}

func (e *GraphError) Error() string {
	var b strings.Builder
	b.WriteString(e.Node)
	if e.Input != "" {
		fmt.Fprintf(&b, ": input %q", e.Input)
	}
	b.WriteString(": " + e.Msg)
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}

// GraphErrors is everything that is wrong with a graph, in the order of its nodes. errors.As finds the first
// *GraphError in it.
type GraphErrors []*GraphError

func (es GraphErrors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

func (es GraphErrors) Unwrap() []error {
	errs := make([]error, len(es))
	for i, e := range es {
		errs[i] = e
	}
	return errs
}

// NodeError says which component failed while starting, running or closing.
type NodeError struct {
	Node  string
	Doing string // "start", "run" or "close"
	Err   error
}

// Error names the component. That it ran when it failed goes without saying.
func (e *NodeError) Error() string {
	if e.Doing == "run" {
		return fmt.Sprintf("%s: %v", e.Node, e.Err)
	}
	return fmt.Sprintf("%s: %s: %v", e.Node, e.Doing, e.Err)
}

func (e *NodeError) Unwrap() error { return e.Err }

// PanicError is the reason of an outcome when a component panicked.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the panic's value if it was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
