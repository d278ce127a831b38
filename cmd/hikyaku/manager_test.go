//go:build linux

package main

import (
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/freeport"
)

// serviceManager is a socket as systemd has one for each unit that notifies. Its path is short, as addresses of sockets
// have to be.
func serviceManager(t *testing.T) *net.UnixConn {
	t.Helper()
	dir, err := os.MkdirTemp("", "manager")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	t.Setenv("NOTIFY_SOCKET", socket.LocalAddr().String())
	return socket
}

// told is what the manager is told next, within a time.
func told(socket *net.UnixConn, within time.Duration) (map[string]string, error) {
	if err := socket.SetReadDeadline(time.Now().Add(within)); err != nil {
		return nil, err
	}
	var b [4096]byte
	n, err := socket.Read(b[:])
	if err != nil {
		return nil, err
	}
	words := map[string]string{}
	for line := range strings.Lines(string(b[:n])) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		words[name] = value
	}
	return words, nil
}

// doorsAt writes a configuration with every door at a port that is free now, and returns the ports.
func doorsAt(t *testing.T) (file string, addresses []string) {
	t.Helper()
	dir := t.TempDir()
	addresses, err := freeport.Find(5)
	if err != nil {
		t.Fatal(err)
	}
	text := "data_dir: " + filepath.Join(dir, "data") + "\napi:\n"
	for i, door := range []string{"mysql", "pubsub", "sqs", "lambda", "http"} {
		text += fmt.Sprintf("  %s: { listen: %q }\n", door, addresses[i])
	}
	file = filepath.Join(dir, "h.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, addresses
}

func TestSystemdIsToldWhenTheDoorsAreOpenWhenItReloadsAndWhenItStops(t *testing.T) {
	socket := serviceManager(t)
	file, addresses := doorsAt(t)
	r := startProgram(t, strings.NewReader(""), "serve", "-c", file)
	next := func(want string) map[string]string {
		t.Helper()
		words, err := told(socket, 2*time.Minute)
		if err != nil || words[want] != "1" || words["STATUS"] == "" {
			t.Fatalf("it told %v, %v, and not %s", words, err, want)
		}
		return words
	}
	next("READY")
	for _, address := range addresses {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Errorf("it is ready: %v", err)
			continue
		}
		c.Close()
	}
	r.signal(syscall.SIGHUP)
	if at, err := strconv.ParseUint(next("RELOADING")["MONOTONIC_USEC"], 10, 64); err != nil || at == 0 {
		t.Errorf("it reloads at %d, %v", at, err)
	}
	next("READY")
	r.until("read again")
	r.signal(syscall.SIGTERM)
	next("STOPPING")
	if code := r.end(); code != 0 {
		t.Errorf("status %d:\n%s", code, strings.Join(r.past, "\n"))
	}
}

func TestSystemdIsNotToldThatDoorsAreOpenOfWhichOneIsNot(t *testing.T) {
	socket := serviceManager(t)
	file, addresses := doorsAt(t)
	l, err := net.Listen("tcp", addresses[len(addresses)-1]) // the last that is opened
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if r := hikyaku(t, "", nil, "serve", "-c", file); r.code != exitFailed {
		t.Errorf("%+v", r)
	}
	if words, err := told(socket, time.Millisecond); err == nil { // it has ended: what it told is here
		t.Errorf("it told %v", words)
	}
}

func TestAStartIsNoReload(t *testing.T) {
	socket := serviceManager(t)
	var m manager
	var reloads int
	reload := m.reloads(func() { reloads++ })
	reload()
	m.opened(slog.New(slog.DiscardHandler))
	reload()
	var all []map[string]string
	for range 3 {
		words, err := told(socket, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, words)
	}
	if reloads != 2 || all[0]["READY"] != "1" || all[1]["RELOADING"] != "1" || all[2]["READY"] != "1" {
		t.Errorf("%d reloads: %v", reloads, all)
	}
}
