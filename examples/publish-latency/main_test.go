package main

import (
	"bytes"
	"regexp"
	"strconv"
	"testing"

	"cloud.google.com/go/pubsub/v2/pstest"
)

func TestTwoLinesTellWhatCompanyCosts(t *testing.T) {
	server := pstest.NewServer()
	defer func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}()
	t.Setenv("PUBSUB_EMULATOR_HOST", server.Addr)
	for range 2 { // the second time the topic is there
		var out bytes.Buffer
		if err := run(t.Context(), &out, "p", "latency", 3); err != nil {
			t.Fatal(err)
		}
		lines := regexp.MustCompile(
			`^level=INFO msg="Default settings result" average_ms=([0-9.]+)\nlevel=INFO msg="Optimized settings result" average_ms=([0-9.]+)\n$`)
		found := lines.FindStringSubmatch(out.String())
		if found == nil {
			t.Fatalf("it printed\n%s", out.String())
		}
		waits, err := strconv.ParseFloat(found[1], 64)
		if err != nil || waits < 10 { // the default settings wait that long, whatever the machine
			t.Errorf("with the default settings a message takes %s ms", found[1])
		}
	}
}

func TestItSaysWhatIsWrong(t *testing.T) {
	server := pstest.NewServer()
	t.Setenv("PUBSUB_EMULATOR_HOST", server.Addr)
	if err := run(t.Context(), &bytes.Buffer{}, "", "latency", 1); err == nil {
		t.Error("no project will do")
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
}
