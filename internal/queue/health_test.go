package queue

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// TestAStoreIsReadyAsLongAsAPutWouldBeTaken: a put that is refused for a reason of the whole store and a store that is
// not ready go together.
func TestAStoreIsReadyAsLongAsAPutWouldBeTaken(t *testing.T) {
	ctx, news := context.Background(), Name{DefaultNamespace, "news"}
	for _, c := range []struct {
		name   string
		limits Limits
		why    error
	}{
		{"a full disk", Limits{}, ErrNoRoom},
		{"the store's limit of messages", Limits{Messages: 10}, ErrQueueFull},
		{"the store's limit of bytes", Limits{Bytes: 20_123}, ErrQueueFull},
	} {
		t.Run(c.name, func(t *testing.T) {
			disk := faultfs.New()
			j, err := file.Open(ctx, file.Options{Dir: "log", FS: disk, SegmentBytes: 64 << 10,
				MaxGroupBytes: 64 << 10})
			if err != nil {
				t.Fatal(err)
			}
			s, err := Open(ctx, Options{Journal: j, OnDemand: true, Limits: c.limits})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := errors.Join(s.Close(), j.Close()); err != nil {
					t.Error(err)
				}
			}()
			if errors.Is(c.why, ErrNoRoom) {
				disk.Limit(400 << 10)
			}
			for {
				ready := s.Ready(t.Context())
				_, err = s.Put(ctx, news, []message.Message{{Body: make([]byte, 100)}})
				if err != nil {
					break
				}
				if ready != nil && c.limits.Messages > 0 { // of bytes the last few are not for everybody
					t.Fatalf("a put was taken, but ready: %v", ready)
				}
			}
			// Who has just been refused would be refused again, as would be everybody else.
			if ready := s.Ready(t.Context()); !errors.Is(err, c.why) || !errors.Is(ready, c.why) {
				t.Errorf("a put: %v; ready: %v", err, ready)
			}
		})
	}
}

// TestAStoreIsNotReadyWhileItsDiskDoesNotAnswer: nor does asking hang, whatever the put that hangs holds.
func TestAStoreIsNotReadyWhileItsDiskDoesNotAnswer(t *testing.T) {
	ctx, news := context.Background(), Name{DefaultNamespace, "news"}
	for _, kind := range []string{"sync", "rename"} { // of the group, and of the next segment, with the lock held
		t.Run(kind, func(t *testing.T) {
			disk := faultfs.New()
			j, err := file.Open(ctx, file.Options{Dir: "log", FS: disk, SegmentBytes: 64 << 10,
				MaxGroupBytes: 256 << 10, Patience: 50 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			s, err := Open(ctx, Options{Journal: j, OnDemand: true})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Put(ctx, news, []message.Message{{}}); err != nil {
				t.Fatal(err)
			}
			answer := disk.Hang(func(op faultfs.Op) bool { return op.Kind == kind })
			defer answer()
			done := make(chan error, 1)
			go func() {
				_, err := s.Put(ctx, news, []message.Message{{Body: make([]byte, 100<<10)}})
				done <- err
			}()
			waittest.Until(t, "it is not ready", func() bool { return errors.Is(s.Ready(t.Context()), ErrStalled) })
			answer()
			if err := <-done; err != nil {
				t.Error(err)
			}
			waittest.Until(t, "it is ready again", func() bool { return s.Ready(t.Context()) == nil })
			if err := errors.Join(s.Close(), j.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}
