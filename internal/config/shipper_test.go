package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
)

// shipped is a file that was written for another log shipper and its sink for TsurugiDB; %s is its transform.
const shipped = `data_dir = "./tmp"

[sources.my_source]
type = "stdin"

%s
[sinks.my_tsurugi_sink]
type   = "tsurugidb"
inputs = ["to_tsurugi_schema"]
endpoint = "tcp://localhost:12345"
table    = "${TSURUGI_TABLE}"

[sinks.my_tsurugi_sink.request]
in_flight_limit = ${VECTOR_IN_FLIGHT_LIMIT}
rate_limit_duration_secs = 1
rate_limit_num = 10
retry_attempts = 5
retry_max_duration_secs = 300
retry_jitter_mode = "Full"

[sinks.my_tsurugi_sink.batch]
max_bytes = 10485760
max_events = 1000
timeout_secs = 1

[sinks.my_tsurugi_sink.credential]
type     = "user_password"
user     = "tsurugi"
password = "password"

[sinks.my_tsurugi_sink.acknowledgements]
enabled = true
`

// shippers is the environment that such a file is started with.
var shippers = environment("TSURUGI_TABLE=log_events_10", "VECTOR_IN_FLIGHT_LIMIT=4")

// mistake is the only one of a file.
func mistake(t *testing.T, name, text string) *Error {
	t.Helper()
	_, err := Parse(name, []byte(text), shippers)
	var errs Errors
	if !errors.As(err, &errs) || len(errs) != 1 {
		t.Fatalf("want one mistake, have %v", err)
	}
	return errs[0]
}

// itsWork is what does the work of a remap there.
const itsWork = `[transforms.to_tsurugi_schema]
type = "decode"
inputs = ["my_source"]
codec = "csv"
columns = ["event_timestamp"]
rest = "value"
types = { value = "float" }
`

func TestAFileOfALogShipperLoadsWithADecodeInPlaceOfItsRemap(t *testing.T) {
	remap := "[transforms.to_tsurugi_schema]\ntype = \"remap\"\ninputs = [\"my_source\"]\nsource = \". = {}\"\n"
	e := mistake(t, "vector.toml", strings.Replace(shipped, "%s", remap, 1))
	if e.Line != 7 || !strings.Contains(e.Message, "there is no remap") || !strings.Contains(e.Hint, "decode") {
		t.Error(e)
	}
	f, err := Parse("vector.toml", []byte(strings.Replace(shipped, "%s", itsWork, 1)), shippers)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Warnings) > 0 {
		t.Error(f.Warnings)
	}
	a, err := f.Build(nil, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	sink := a.Nodes[len(a.Nodes)-1]
	if sink.Settings.Request.Concurrency != 4 || sink.Settings.Request.RateNum != 10 ||
		sink.Settings.Batch.MaxEvents != 1000 {
		t.Errorf("the sink's settings are %+v", sink.Settings)
	}
}

func TestAVariableNeedsNoQuotesInTOML(t *testing.T) {
	text := `# in_flight_limit = ${COMMENT}
[sources.s]
type = "stdin"
max_line_bytes = ${SIZE} # bytes
skip_empty = ${EMPTY:-true}

[sinks.x]
type = 'stdout'
inputs = [ ${INPUT}, ]
request = { in_flight_limit = ${LIMIT:-7}, timeout_secs = ${TIME} }
`
	env := environment("SIZE=64KiB", "EMPTY=", "INPUT=s", "TIME=1.5")
	f, err := Parse("a.toml", []byte(text), env)
	if err != nil {
		t.Fatal(err)
	}
	a, err := f.Build(nil, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if c := a.Nodes[1].Settings; c.Request.Concurrency != 7 || c.Request.Timeout.Milliseconds() != 1500 {
		t.Errorf("%+v", c)
	}
	for broken, says := range map[string]string{
		"a = ${SIZE":               "this is not TOML",
		"a = 5${SIZE}":             "this is not TOML",
		"a = ${SIZE}5":             "this is not TOML",
		"data_dir = ${NOWHERE}":    "NOWHERE is not set",
		"data_dir = ${NO WHERE}":   "is not the name of an environment variable",
		"data_dir = \"\"\"${SIZE}": "this is not TOML",
		"${SIZE} = 1":              "this is not TOML",
	} {
		if e := mistakeIn(t, broken, env); e.Line != 1 || !strings.Contains(e.Message, says) {
			t.Errorf("%s: %v", broken, e)
		}
	}
}

func mistakeIn(t *testing.T, text string, env func(string) (string, bool)) *Error {
	t.Helper()
	_, err := Parse("a.toml", []byte(text), env)
	var errs Errors
	var one *Error
	switch {
	case errors.As(err, &errs) && len(errs) > 0:
		return errs[0]
	case errors.As(err, &one):
		return one
	}
	t.Fatalf("%s: %v", text, err)
	return nil
}

func TestAcknowledgementsCannotBeSwitchedOff(t *testing.T) {
	head := "sources: { s: { type: stdin } }\nsinks: { out: { type: stdout, inputs: [s], acknowledgements: "
	for _, good := range []string{"true", "{ enabled: true }", `"${ON:-true}"`} {
		if _, err := Parse("a.yaml", []byte(head+good+" } }\n"), shippers); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for bad, says := range map[string]string{
		"false": "cannot be switched off", "{ enabled: false }": "acknowledgements.enabled cannot be switched off",
		"3":  "takes true or false",
		"{}": `"enabled" is missing`, "{ enabled: true, x: 1 }": `unknown key "x"`, "[true]": "takes true or false",
	} {
		if e := mistake(t, "a.yaml", head+bad+" } }\n"); !strings.Contains(e.Message, says) {
			t.Errorf("%s: %v", bad, e)
		}
	}
}
