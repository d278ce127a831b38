package javascript

import (
	"bufio"
	"errors"
	"io"
	"os"
)

// childVariable is set in the environment of processes that run functions.
const childVariable = "HIKYAKU_JAVASCRIPT_CHILD"

// Child has to be called first in main (in tests: in TestMain). In a process that was started to run functions it does
// that and does not return; in others it returns at once.
func Child() {
	if os.Getenv(childVariable) == "" {
		return
	}
	in, out := os.Stdin, os.Stdout
	bound()
	if err := confine(); err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	if err := serve(in, out); err != nil && !errors.Is(err, io.EOF) {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	os.Exit(0)
}

// serve answers requests until there are no more. Its owner's end is seen also while a function runs.
func serve(in io.Reader, out io.Writer) error {
	requests, over := make(chan []byte), make(chan error, 1)
	go func() { // it ends with the process
		from := bufio.NewReader(in)
		for {
			b, err := readFrame(from)
			if err != nil {
				over <- err
				return
			}
			requests <- b
		}
	}()
	done := make(chan error, 1)
	go func() {
		var e engine
		for b := range requests {
			if err := e.answer(b, out); err != nil {
				done <- err
				return
			}
		}
	}()
	select {
	case err := <-over:
		return err
	case err := <-done:
		return err
	}
}

// answer answers one request.
func (e *engine) answer(b []byte, out io.Writer) error {
	q, err := readRequest(b)
	if err != nil {
		return err
	}
	var frame []byte
	return e.do(q, func(a *answer) error {
		if a == nil {
			a = &answer{kind: isDropped} // a check that found nothing wrong
		}
		frame = a.append(append(frame[:0], make([]byte, frameHead)...))
		return writeFrame(out, frame)
	})
}
