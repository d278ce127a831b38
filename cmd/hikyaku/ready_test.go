package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// TestTheLogSaysWhenPutsAreRefusedAndWhenTheyAreTakenAgain lets a store be full for a while, and then stall, of which
// the journal tells.
func TestTheLogSaysWhenPutsAreRefusedAndWhenTheyAreTakenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		ready := func(context.Context) error {
			switch at := time.Since(begun); {
			case at > 20*time.Second && at < 120*time.Second:
				return fmt.Errorf("%w: a test has filled it", queue.ErrNoRoom)
			case at > 200*time.Second:
				return queue.ErrStalled
			}
			return nil
		}
		var out bytes.Buffer
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Second)
		defer cancel()
		sayWhetherReady(ctx, slog.New(slog.NewTextHandler(&out, nil)), ready)
		var said []string
		for line := range strings.Lines(out.String()) {
			_, rest, _ := strings.Cut(line, "msg=")
			said = append(said, rest[:strings.Index(rest[1:], `"`)+2])
		}
		want := []string{`"puts are refused"`, `"puts are refused"`, `"puts are taken again"`}
		if strings.Join(said, "\n") != strings.Join(want, "\n") ||
			!strings.Contains(out.String(), "a test has filled it") ||
			!strings.Contains(out.String(), "make room on the disk") {
			t.Errorf("the log says\n%s", out.String())
		}
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.Errorf("it ended before its context: %v", ctx.Err())
		}
	})
}
