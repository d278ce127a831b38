package sqldriver_test

import (
	"testing"

	"go.uber.org/goleak"
)

// Every goroutine has an owner who waits for it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
