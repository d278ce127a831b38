package main

import (
	"errors"
	"os/exec"
)

var errNoSignals = errors.New("this system has no signal that ends a process in order: run hikyaku serve as a " +
	"service, or end it with Ctrl-C")

func apart(*exec.Cmd) error { return errNoSignals }

func keepReady() {}

func terminate(int) error { return errNoSignals }
