//go:build linux

package prometheus_test

import (
	"os"
	"testing"

	"github.com/hikyaku/hikyaku/test/clients/built"
)

const root = "../../.."

// binary is the program that the tests run.
var binary string

func TestMain(m *testing.M) { os.Exit(built.Run(m, &binary)) }
