package pace_test

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/bench/pace"
	tempo "github.com/hikyaku/hikyaku/pace"
)

func TestMain(m *testing.M) {
	tempo.Child(pace.Players())
	benchtest.Main(m, pace.Burn)
}
