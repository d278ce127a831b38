package sink_test

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/bench/sink"
)

func TestMain(m *testing.M) {
	benchtest.Main(m, sink.Serve)
}
