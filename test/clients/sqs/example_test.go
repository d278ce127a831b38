package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestTheExampleDeliversToEveryUserOnce runs the collector and the sender of the example as its page says, but for
// Maven.
func TestTheExampleDeliversToEveryUserOnce(t *testing.T) {
	t.Parallel()
	server := serve(t, "")
	for _, run := range []struct {
		class, args, says string
	}{
		{"Collector", "1000", `^1000 messages to 10 users each, durable after \d+ ms\n$`},
		{"Sender", "10000", `^10000 users told after \d+ ms, 0 of them twice\n$`},
	} {
		program := java(run.class, run.class, run.args)
		cmd := exec.CommandContext(t.Context(), program.Command[0], program.Command[1:]...)
		cmd.Env = append(os.Environ(), "SQS_ENDPOINT=http://"+server.Door("sqs"))
		out, err := cmd.Output()
		if err != nil || !regexp.MustCompile(run.says).Match(out) {
			t.Fatalf("%s: %v: it says %q", run.class, err, out)
		}
	}
}

// TestTheExampleIsBuiltWithTheSDKThatIsTested compares what its own build pins with what the test runs it with.
func TestTheExampleIsBuiltWithTheSDKThatIsTested(t *testing.T) {
	t.Parallel()
	version := regexp.MustCompile(`(?s)<artifactId>sqs</artifactId>\s*<version>([^<]*)<`)
	var pins []string
	for _, pom := range []string{filepath.Join(example, "pom.xml"), "java/pom.xml"} {
		text, err := os.ReadFile(pom)
		if err != nil {
			t.Fatal(err)
		}
		m := version.FindSubmatch(text)
		if m == nil {
			t.Fatalf("%s pins no SDK", pom)
		}
		pins = append(pins, string(m[1]))
	}
	if pins[0] != pins[1] {
		t.Errorf("the example is built with %s, and tested with %s", pins[0], pins[1])
	}
}
