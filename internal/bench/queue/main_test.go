package queue_test

import (
	"context"
	"io"
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/bench/queue"
)

func TestMain(m *testing.M) {
	benchtest.Main(m, func(ctx context.Context, args []string, _ io.Reader, out io.Writer) error {
		return queue.Occupy(ctx, args, out)
	})
}
