//go:build !linux

package pass

func hurry() string { return "a thread with the usual priority" }
