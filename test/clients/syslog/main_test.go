//go:build linux

package syslog_test

import (
	"os"
	"testing"

	"github.com/hikyaku/hikyaku/test/clients/built"
)

// binary is the program that the tests run.
var binary string

func TestMain(m *testing.M) { os.Exit(built.Run(m, &binary)) }
