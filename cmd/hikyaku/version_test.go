package main

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strings"
	"testing"
)

func TestVersionTellsHowItWasBuilt(t *testing.T) {
	show := func(args ...string) string {
		var out bytes.Buffer
		cmd := newVersion()
		cmd.SetOut(&out)
		cmd.SetArgs(args)
		if err := cmd.Execute(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if text := show(); !strings.HasPrefix(text, "hikyaku ") ||
		!strings.Contains(text, runtime.Version()+", "+runtime.GOOS) {
		t.Errorf("it prints %q", text)
	}
	var b built
	if err := json.Unmarshal([]byte(show("--json")), &b); err != nil || b != thisBuild() {
		t.Errorf("it prints %+v, %v", b, err)
	}
}
