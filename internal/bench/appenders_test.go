package bench

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"
)

func TestSharedLogTakesEveryPieceOnceAndSharesSyncs(t *testing.T) {
	raw := openedRaw(t)
	l := newSharedLog(raw)
	const writers, each, size = 8, 50, 10
	err := crowd(t.Context(), writers, func(context.Context, int) error {
		for range each {
			if err := l.append(makeBody(size)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if raw.at != writers*each*size {
		t.Errorf("%d bytes are in the log, %d were appended", raw.at, writers*each*size)
	}
	if l.round > writers*each || l.round < each || l.synced != l.round {
		t.Errorf("%d pieces by %d took %d rounds, of which %d are durable", writers*each, writers, l.round, l.synced)
	}
}

func TestSharedLogThatFailedTakesNothingMore(t *testing.T) {
	raw, err := newRawLog(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.close(); err != nil {
		t.Fatal(err)
	}
	l := newSharedLog(raw)
	for range 2 {
		if err := l.append(makeBody(1)); !errors.Is(err, os.ErrClosed) {
			t.Errorf("into a closed file: %v", err)
		}
	}
}

func TestAppendersWriteWhatTheyCountAndSettleAllOfIt(t *testing.T) {
	raw := openedRaw(t)
	a := &appenders{log: newSharedLog(raw), writers: 3, put: 100, settle: 7}
	s, err := a.run(t.Context(), 10*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if s.n < 3 || int64(len(s.calls)) != s.n || s.elapsed < 10*time.Millisecond {
		t.Errorf("%d messages in %d calls within %v", s.n, len(s.calls), s.elapsed)
	}
	if want := s.n * 107; raw.at != want {
		t.Errorf("%d bytes are in the log, %d messages take %d", raw.at, s.n, want)
	}
}

func TestAppendersEndWithTheirContextAndWithAnError(t *testing.T) {
	raw := openedRaw(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := &appenders{log: newSharedLog(raw), writers: 2, put: 100, settle: 7}
	if _, err := a.run(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
	a.log.err = os.ErrClosed
	if _, err := a.run(t.Context(), time.Hour); !errors.Is(err, os.ErrClosed) {
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
