package function

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnEmulatorThatEndsIsToldWithWhatItSaid(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "emulator")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"there is no option $1\" >&2\nexit 2\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	e, err := startEmulator(t.Context(), program, &functionRuntime{name: caseGo, folder: dir},
		filepath.Join(dir, "log"))
	if err == nil || !strings.Contains(err.Error(), "there is no option --runtime-interface-emulator-address") {
		t.Errorf("%v, %v", e, err)
	}
}

func TestAnEmulatorThatIsNotThereIsTold(t *testing.T) {
	dir := t.TempDir()
	_, err := startEmulator(t.Context(), filepath.Join(dir, "emulator"), &functionRuntime{name: caseGo, folder: dir},
		filepath.Join(dir, "log"))
	if err == nil || !strings.Contains(err.Error(), "its program, or http://host:port") {
		t.Error(err)
	}
}
