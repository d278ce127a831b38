package queue

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

func TestSharedLogTakesEveryPieceOnceAndSharesSyncs(t *testing.T) {
	raw := benchtest.OpenRaw(t)
	l := newSharedLog(raw)
	const writers, each, size = 8, 50, 10
	err := harness.Crowd(t.Context(), writers, func(context.Context, int) error {
		for range each {
			if err := l.append(harness.MakeBody(size)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if raw.At != writers*each*size {
		t.Errorf("%d bytes are in the log, %d were appended", raw.At, writers*each*size)
	}
	if l.round > writers*each || l.round < each || l.synced != l.round {
		t.Errorf("%d pieces by %d took %d rounds, of which %d are durable", writers*each, writers, l.round, l.synced)
	}
}

func TestSharedLogThatFailedTakesNothingMore(t *testing.T) {
	raw, err := harness.NewRawLog(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Close(); err != nil {
		t.Fatal(err)
	}
	l := newSharedLog(raw)
	for range 2 {
		if err := l.append(harness.MakeBody(1)); !errors.Is(err, os.ErrClosed) {
			t.Errorf("into a closed file: %v", err)
		}
	}
}

func TestAppendersWriteWhatTheyCountAndSettleAllOfIt(t *testing.T) {
	raw := benchtest.OpenRaw(t)
	a := &appenders{log: newSharedLog(raw), writers: 3, put: 100, settle: 7}
	s, err := a.Run(t.Context(), 10*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if s.N < 3 || int64(len(s.Calls)) != s.N || s.Elapsed < 10*time.Millisecond {
		t.Errorf("%d messages in %d calls within %v", s.N, len(s.Calls), s.Elapsed)
	}
	if want := s.N * 107; raw.At != want {
		t.Errorf("%d bytes are in the log, %d messages take %d", raw.At, s.N, want)
	}
}

func TestAppendersEndWithTheirContextAndWithAnError(t *testing.T) {
	raw := benchtest.OpenRaw(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := &appenders{log: newSharedLog(raw), writers: 2, put: 100, settle: 7}
	if _, err := a.Run(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
	a.log.err = os.ErrClosed
	if _, err := a.Run(t.Context(), time.Hour); !errors.Is(err, os.ErrClosed) {
		t.Errorf("with a failed log: %v", err)
	}
}

func TestTakeLowersACountByAtMostSoMuch(t *testing.T) {
	tr := testTraffic(t, 1)
	tr.puts.Store(150)
	for _, want := range []int64{100, 50, 0} {
		if got := take(&tr.puts, 100); got != want {
			t.Errorf("%d taken, want %d", got, want)
		}
	}
}
