// Command main holds functions on the provider's own client of the Runtime API for Go. The variable _HANDLER says which
// of them it is.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

var (
	origin  = time.Now()
	counter int
)

func main() {
	name := os.Getenv("_HANDLER")
	if name == "wait2" || name == "wait3" {
		wait()
	}
	handler, ok := map[string]any{
		"echo": echo, "pid": pid, "stacktrace": stacktrace, "wait1": wait1, "wait2": called, "wait3": called,
		"fail": fail, "panics": panics, "context": about,
	}[name]
	if !ok {
		fmt.Println("there is no handler", name)
		os.Exit(1)
	}
	lambda.Start(handler)
}

func echo(event json.RawMessage) (json.RawMessage, error) { return event, nil }

func pid() (string, error) {
	counter++
	host, err := os.Hostname()
	fmt.Printf("Name: %d@%s\nCount: %d\n", os.Getpid(), host, counter)
	return "SUCCESS", err
}

func stacktrace() (string, error) {
	fmt.Printf("%s\n", debug.Stack())
	return "SUCCESS", nil
}

func wait() {
	n, err := strconv.Atoi(os.Getenv("WAIT_MS"))
	if err != nil {
		n = 10_000
	}
	fmt.Println("Before wait:", time.Since(origin).Milliseconds())
	time.Sleep(time.Duration(n) * time.Millisecond)
	fmt.Println("After wait:", time.Since(origin).Milliseconds())
}

func wait1() (string, error) {
	wait()
	return "SUCCESS", nil
}

func called() (string, error) {
	fmt.Println("Called:", time.Since(origin).Milliseconds())
	return "SUCCESS", nil
}

// TooFar is an error with a name.
type TooFar struct{}

func (*TooFar) Error() string { return "too far" }

func fail() (string, error) { return "", &TooFar{} }

func panics() (string, error) { panic("too far") }

func about(ctx context.Context) (map[string]any, error) {
	c, _ := lambdacontext.FromContext(ctx)
	deadline, ok := ctx.Deadline()
	return map[string]any{"id": c.AwsRequestID, "arn": c.InvokedFunctionArn, "left": ok && time.Until(deadline) > 0},
		nil
}
