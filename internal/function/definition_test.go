package function_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/code"
	"github.com/hikyaku/hikyaku/internal/function/place"
)

func TestADefinitionThatCannotBeNamesItsField(t *testing.T) {
	p := open(t, function.Config{})
	minus := -1
	for _, c := range []struct {
		field, says string
		change      func(*function.Definition)
	}{
		{"name", "letters, digits", func(d *function.Definition) { d.Name = "a/b" }},
		{"name", "letters, digits", func(d *function.Definition) { d.Name = "" }},
		{"name", "letters, digits", func(d *function.Definition) { d.Name = strings.Repeat("x", 65) }},
		{"version", "no version", func(d *function.Definition) { d.Version = "../1" }},
		{"runtime", "provided, go, java", func(d *function.Definition) { d.Runtime = "cobol" }},
		{"handler", "exports.handler", func(d *function.Definition) { d.Runtime = "nodejs20.x" }},
		{"handler", "app.py", func(d *function.Definition) { d.Runtime = "python3.12" }},
		{"command", "needs a program", func(d *function.Definition) { d.Runtime = "command" }},
		{"command", "only runtime command", func(d *function.Definition) { d.Command = []string{"x"} }},
		{"memory", "between 128 and 10240", func(d *function.Definition) { d.MemoryMB = 64 }},
		{"memory", "between 128 and 10240", func(d *function.Definition) { d.MemoryMB = 20000 }},
		{"timeout", "15m0s", func(d *function.Definition) { d.Timeout = time.Hour }},
		{"timeout", "15m0s", func(d *function.Definition) { d.Timeout = -time.Second }},
		{"life cycle", "below 0", func(d *function.Definition) { d.Idle = -1 }},
		{"architecture", "arm64", func(d *function.Definition) { d.Architecture = "vax" }},
		{"policy", "warm, spread, ahead", func(d *function.Definition) { d.Policy = "cold" }},
		{"reserved concurrency", "below 0", func(d *function.Definition) { d.Reserved = &minus }},
		{"provisioned concurrency", "below 0", func(d *function.Definition) { d.Provisioned = -1 }},
		{"provisioned concurrency", "spread", func(d *function.Definition) {
			d.Provisioned, d.Policy = 1,
				place.Spread
		}},
		{"provisioned concurrency", "more than", func(d *function.Definition) { single(d); d.Provisioned = 2 }},
		{"layers", "no folder", func(d *function.Definition) { d.Layers = []string{"/no/such"} }},
		{"layers", "more than 5", func(d *function.Definition) { d.Layers = make([]string, 6) }},
		{"environment", "no name", func(d *function.Definition) { d.Environment = map[string]string{"a=b": "c"} }},
		{"environment", "set by the runtime",
			func(d *function.Definition) { d.Environment = map[string]string{"AWS_LAMBDA_RUNTIME_API": "c"} }},
		{"environment", "zero byte", func(d *function.Definition) { d.Environment = map[string]string{"A": "\x00"} }},
		{"environment", "4096",
			func(d *function.Definition) { d.Environment = map[string]string{"A": strings.Repeat("x", 5000)} }},
	} {
		d := function.Definition{Name: "f", Runtime: "provided", Code: code.Source{Folder: built}}
		c.change(&d)
		_, err := p.Deploy(d)
		var wrong *function.DefinitionError
		if !errors.As(err, &wrong) || wrong.Field != c.field || !strings.Contains(wrong.Problem, c.says) {
			t.Errorf("want %s with %q: %v", c.field, c.says, err)
		}
	}
	if all := p.List(); len(all) != 0 {
		t.Errorf("deployed all the same: %+v", all)
	}
}

func TestWhatIsLeftOutIsTheProvidersDefault(t *testing.T) {
	p := open(t, function.Config{})
	deployed, err := p.Deploy(function.Definition{Name: "f", Runtime: "provided", Code: code.Source{Folder: built}})
	d := deployed.Definition
	if err != nil || d.Version != "$LATEST" || d.MemoryMB != 128 || d.Timeout != 3*time.Second ||
		d.InitTimeout != 10*time.Second || d.Policy != place.Warm {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestVersionsAreFunctionsOfTheirOwn(t *testing.T) {
	p := open(t, function.Config{})
	for _, v := range []string{"", "1", "2"} {
		deploy(t, p, func(d *function.Definition) {
			d.Version, d.Environment = v,
				map[string]string{"COLOUR": "colour " + v}
		})
	}
	r, err := p.Invoke(t.Context(),
		function.Request{Function: "f", Version: "2", Payload: []byte(`{"do":"environment"}`), LogTail: true})
	if err != nil || r.Version != "2" {
		t.Fatalf("%+v, %v", r, err)
	}
	contains(t, "its environment", string(r.Payload), "COLOUR=colour 2", "AWS_LAMBDA_FUNCTION_VERSION=2")
	contains(t, "its log", string(r.LogTail), " Version: 2\n")
	var names []string
	for _, s := range p.List() {
		names = append(names, s.Deployed.Definition.Version+" "+s.Deployed.ARN)
	}
	if got := strings.Join(names, "\n"); got != "$LATEST arn:aws:lambda:us-east-1:000000000000:function:f\n1 "+
		"arn:aws:lambda:us-east-1:000000000000:function:f:1\n2 arn:aws:lambda:us-east-1:000000000000:function:f:2" {
		t.Errorf("%s", got)
	}
}
