package main

import (
	"fmt"
	"reflect"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// checks runs them and remembers whether one failed.
type checks struct{ failed bool }

func (c *checks) check(name string, body func() error) {
	err := body()
	if err == nil {
		fmt.Println("ok", name)
		return
	}
	c.failed = true
	fmt.Printf("not ok %s: %.500s\n", name, strings.Join(strings.Fields(err.Error()), " "))
}

func (c *checks) code() int {
	if c.failed {
		return 1
	}
	return 0
}

// same demands that two values are the same.
func same(want, got any) error {
	if !reflect.DeepEqual(want, got) {
		return fmt.Errorf("got %.200v, wanted %.200v", got, want)
	}
	return nil
}

// refused demands an error of the code.
func refused(want codes.Code, err error) error {
	if got := status.Code(err); got != want {
		return fmt.Errorf("got %v (%v), wanted %v", got, err, want)
	}
	return nil
}
