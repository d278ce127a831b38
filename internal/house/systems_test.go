package house

import (
	"os"
	"os/exec"
	"testing"
)

// TestTheHouseIsBuiltForEverySystem compiles every package for each system that code is written for. The first time it
// compiles the standard library for them too.
func TestTheHouseIsBuiltForEverySystem(t *testing.T) {
	lookAround(t)
	for _, system := range systems {
		cmd := exec.CommandContext(t.Context(), "go", "build", "-tags", "gms_pure_go", "./...")
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", system, err, out)
		}
	}
}
