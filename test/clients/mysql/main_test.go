package clients_test

import (
	"testing"

	"github.com/hikyaku/hikyaku/test/clients/conformance"
)

// built is what the tests run.
var built conformance.Built

func TestMain(m *testing.M) { built.Main(m, "mysql") }
