package publish_test

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/bench/publish"
)

func TestMain(m *testing.M) {
	benchtest.Main(m, publish.Serve)
}
