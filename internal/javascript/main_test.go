package javascript

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	Child()
	if m.Run() != 0 {
		os.Exit(1)
	}
	if err := goleak.Find(); err != nil {
		panic(err)
	}
}
