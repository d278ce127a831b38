package bench_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"testing"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/bench"
	"github.com/hikyaku/hikyaku/pace"
)

// occupant is the first argument with which this test program does what hikyaku bench occupy does.
const occupant = "occupy-for-a-test"

// server is the first argument with which it does what hikyaku bench serve-q4m does.
const server = "serve-for-a-test"

// pubsubServer is the first argument with which it does what hikyaku bench serve-publish does.
const pubsubServer = "serve-publish-for-a-test"

// pushServer is the first argument with which it does what hikyaku bench serve-push does.
const pushServer = "serve-push-for-a-test"

// sqsServer is the first argument with which it does what hikyaku bench serve-sqs does.
const sqsServer = "serve-sqs-for-a-test"

// sinkServer is the first argument with which it does what hikyaku bench serve-sink does.
const sinkServer = "serve-sink-for-a-test"

func TestMain(m *testing.M) {
	pace.Child(bench.PacePlayers())
	if len(os.Args) > 1 && os.Args[1] == burner {
		if err := bench.Burn(context.Background(), nil, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == sinkServer {
		if err := bench.ServeSink(context.Background(), os.Args[2:], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == sqsServer {
		if err := bench.ServeSQS(context.Background(), os.Args[2:], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == pushServer {
		if err := bench.ServePush(context.Background(), os.Args[2:], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == pubsubServer {
		if err := bench.ServePublish(context.Background(), os.Args[2:], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == server {
		if err := bench.ServeQ4M(context.Background(), os.Args[2:], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == occupant {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		err := bench.Occupy(ctx, os.Args[2:], os.Stdout)
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
