//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// onResize tells whenever the terminal has another size, until still is called.
func onResize() (resized <-chan os.Signal, still func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGWINCH)
	return c, func() { signal.Stop(c) }
}
