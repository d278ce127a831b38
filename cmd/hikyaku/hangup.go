package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
)

// exitHangup is the status of a command that ended because its terminal was closed: 128 and the number of SIGHUP, as
// shells have it.
const exitHangup = 129

// hangups are the SIGHUPs that come: a command that can reload takes them, any other ends as for Ctrl-C, with a status
// that says so.
type hangups struct {
	taken atomic.Bool
	ended atomic.Bool
	come  chan struct{} // capacity 1: one that waits stands for all that came meanwhile
	done  chan struct{}
	work  sync.WaitGroup
}

// watchHangups begins to watch; end is called for a SIGHUP that no command takes. nohup ignores SIGHUP, and so it
// stays.
func watchHangups(end func()) *hangups {
	h := &hangups{come: make(chan struct{}, 1), done: make(chan struct{})}
	if signal.Ignored(syscall.SIGHUP) {
		return h
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	h.work.Go(func() {
		defer signal.Stop(signals)
		for {
			select {
			case <-h.done:
				return
			case <-signals:
			}
			if !h.taken.Load() {
				h.ended.Store(true)
				end()
				continue
			}
			select {
			case h.come <- struct{}{}:
			default:
			}
		}
	})
	return h
}

// close ends the watching.
func (h *hangups) close() {
	close(h.done)
	h.work.Wait()
}

// code is the status of a command that ended with another one.
func (h *hangups) code(code int) int {
	if h.ended.Load() && (code == exitOK || code == exitFailed) {
		return exitHangup
	}
	return code
}

type hangupKey struct{}

func withHangups(ctx context.Context, h *hangups) context.Context {
	return context.WithValue(ctx, hangupKey{}, h)
}

// takeHangups keeps a SIGHUP from ending a command that calls onHangup once it has started, which may take a while:
// then it is heeded.
func takeHangups(ctx context.Context) {
	if h, ok := ctx.Value(hangupKey{}).(*hangups); ok {
		h.taken.Store(true)
	}
}

// onHangup calls reload for each SIGHUP from now on, one at a time, until stop is called. Commands that call it do not
// end for a SIGHUP.
func onHangup(ctx context.Context, reload func()) (stop func()) {
	h, ok := ctx.Value(hangupKey{}).(*hangups)
	if !ok {
		return func() {}
	}
	h.taken.Store(true)
	done := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		for {
			select {
			case <-h.come:
				reload()
			case <-done:
				return
			}
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		work.Wait()
	})
}
