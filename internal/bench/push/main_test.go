package push_test

import (
	"context"
	"io"
	"regexp"
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/bench/push"
)

// unsynced is an argument with which a child says that its journal has made no sync.
const unsynced = "unsynced"

func TestMain(m *testing.M) {
	benchtest.Main(m, func(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
		if args[0] == unsynced {
			args, out = args[1:], withoutSyncs{out}
		}
		return push.Serve(ctx, args, in, out)
	})
}

// withoutSyncs leaves out of each line how many syncs there were.
type withoutSyncs struct{ to io.Writer }

var syncs = regexp.MustCompile(`,"syncs":\d+`)

func (w withoutSyncs) Write(b []byte) (int, error) {
	_, err := w.to.Write(syncs.ReplaceAll(b, nil))
	return len(b), err
}
