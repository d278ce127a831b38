package push_test

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/bench/push"
)

func TestMain(m *testing.M) {
	benchtest.Main(m, push.Serve)
}
