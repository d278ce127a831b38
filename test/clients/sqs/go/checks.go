package main

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/aws/smithy-go"
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
		return fmt.Errorf("got %.200s, wanted %.200s", fmt.Sprint(got), fmt.Sprint(want))
	}
	return nil
}

// a demands that an error is one of the client's own types.
func a[E error](err error) error {
	var want E
	if !errors.As(err, &want) {
		return fmt.Errorf("got the error %v, wanted a %T", err, want)
	}
	return nil
}

// refused demands an error with a code, for which the client has no type.
func refused(code string, err error) error {
	var got smithy.APIError
	if !errors.As(err, &got) || got.ErrorCode() != code {
		return fmt.Errorf("got the error %v, wanted %s", err, code)
	}
	return nil
}
