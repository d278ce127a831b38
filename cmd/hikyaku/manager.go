package main

import (
	"context"
	"log/slog"
	"sync"

	"github.com/coreos/go-systemd/v22/daemon"
)

// manager tells systemd what a serve does, where that waits to hear it: a unit of Type=notify has the name of a socket
// in NOTIFY_SOCKET. Elsewhere it tells nothing. There is no watchdog in it: when puts are not taken, the disk is full
// or does not answer, and a new process would find it as it is.
type manager struct {
	mu   sync.Mutex
	log  *slog.Logger // nil: it was not said yet that the doors are open
	ends bool
}

// opened says that the doors are open, the first time and again after they were closed for a while.
func (m *manager) opened(log *slog.Logger) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.log = log
	m.tell(daemon.SdNotifyReady + "\nSTATUS=the doors are open")
}

// status says what a process does whose doors are closed for a while.
func (m *manager) status(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tell("STATUS=" + what)
}

// reloads is what reads the configuration again, and says so. A start that is under way stays one.
func (m *manager) reloads(reload func()) func() {
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.tell(daemon.SdNotifyReloading + "\n" + daemon.SdNotifyMonotonicUsec() +
			"STATUS=reading the configuration again")
		reload()
		m.tell(daemon.SdNotifyReady + "\nSTATUS=the doors are open")
	}
}

// stops says when ctx ends that this process stops. wait returns when that was said, or ctx has not ended.
func (m *manager) stops(ctx context.Context) (wait func()) {
	said := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(said)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.tell(daemon.SdNotifyStopping + "\nSTATUS=stopping")
		m.ends = true
	})
	return func() {
		if !stop() {
			<-said
		}
	}
}

// tell says something between the first word that the doors are open and the last one that they close.
func (m *manager) tell(state string) {
	if m.log == nil || m.ends {
		return
	}
	if _, err := daemon.SdNotify(false, state); err != nil {
		m.log.Warn("the service manager could not be told", "error", err)
	}
}
