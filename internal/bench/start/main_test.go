package start_test

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
)

func TestMain(m *testing.M) {
	benchtest.Main(m, nil)
}
