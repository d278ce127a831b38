package sqs_test

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/bench/sqs"
)

func TestMain(m *testing.M) {
	benchtest.Main(m, sqs.Serve)
}
