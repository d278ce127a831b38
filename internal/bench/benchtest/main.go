// Package benchtest is what every experiment promises (Subject), and what their tests share. It is for tests.
package benchtest

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"testing"

	"go.uber.org/goleak"
)

// child is the first argument with which a test program is the process that a bench starts.
const child = "child-of-a-test"

// Self is the command of a process that does what the serve of Main does.
func Self() []string { return []string{os.Args[0], child} }

// Main runs the tests of a bench, or, in a process that self starts, serve. It is for TestMain.
func Main(m *testing.M, serve func(ctx context.Context, args []string, in io.Reader, out io.Writer) error) {
	if len(os.Args) > 1 && os.Args[1] == child {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		err := serve(ctx, os.Args[2:], os.Stdin, os.Stdout)
		stop()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m,
		// OpenCensus, which Google's client uses, keeps a goroutine for the life of the process.
		goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"),
		// Google's client does not wait for this one of a stream.
		goleak.IgnoreTopFunction("cloud.google.com/go/pubsub/v2.(*messageIterator).streamKeepAliveHandler"))
}
