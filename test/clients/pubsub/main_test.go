package clients_test

import (
	"testing"

	"github.com/hikyaku/hikyaku/test/clients/conformance"
)

// built is what the tests run.
var built = conformance.Built{Java: []string{"java/Conformance.java", "java/Rest.java"}}

func TestMain(m *testing.M) { built.Main(m, "pubsub") }
