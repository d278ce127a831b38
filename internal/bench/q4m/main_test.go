package q4m_test

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/bench/q4m"
)

func TestMain(m *testing.M) {
	benchtest.Main(m, q4m.Serve)
}
