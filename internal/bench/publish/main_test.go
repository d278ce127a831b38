package publish_test

import (
	"context"
	"io"
	"slices"
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/bench/publish"
)

// forgetful is an argument with which a child that is to be our door is Google's server for tests: it answers, and
// keeps nothing on a disk.
const forgetful = "forgetful"

func TestMain(m *testing.M) {
	benchtest.Main(m, func(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
		if args[0] == forgetful {
			args = slices.Clone(args[1:])
			if i := slices.Index(args, "hikyaku"); i >= 0 {
				args[i] = "pstest"
			}
		}
		return publish.Serve(ctx, args, in, out)
	})
}
