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

const remapped = `[transforms.to_tsurugi_schema]
type   = "remap"
inputs = ["my_source"]

source = '''
parsed = parse_csv!(.message, delimiter: ",")
for_each(parsed) -> |idx, v| {
  if idx == 0 {
    .event_timestamp = v
  } else {
    col_name = "value" + to_string(idx)
    . = set!(., [col_name], to_float!(v))
  }
}
del(.message)
del(.host)
'''
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

func TestARemapIsAnsweredWithWhatDoesTheSame(t *testing.T) {
	file := strings.Replace(shipped, "%s", remapped, 1)
	e := mistake(t, "vector.toml", file)
	want := `vector.toml:7:10: transforms.to_tsurugi_schema: there is no remap; what does the same is below
    7 | type   = "remap"
      |          ^ put that in its place

[transforms.to_tsurugi_schema]
type = 'decode'
inputs = ['my_source']
codec = 'csv'
columns = ['event_timestamp']
rest = 'value'
types = { value = 'float' }
`
	if got := e.Pretty([]byte(file)); got != want {
		t.Errorf("it says\n%s\nnot\n%s", got, want)
	}
	// It is taken at its word.
	f, err := Parse("vector.toml", []byte(strings.Replace(shipped, "%s", e.Instead, 1)), shippers)
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

func TestWhatStandsForARemapLoads(t *testing.T) {
	for _, program := range []string{
		`. = parse_json!(.message); .level = downcase(string!(.level)); .price = "${not a variable}"`,
		`. |= parse_regex!(.message, r'^(?P<ip>\S+) "(?P<what>[^"]*)" it\'s$')`,
		`p = parse_csv!(.message, delimiter: "\t"); .a = parse_timestamp!(p[0], "%Y-%m-%d %H:%M:%S"); .on = to_int!(p[1]); .c = p[3]`,
		`.level = split!(.message, " ")[0]`,
	} {
		yaml := "sources: { lines: { type: stdin } }\ntransforms:\n%ssinks:\n  out: { type: stdout, inputs: [shape] }\n"
		toml := "[sources.lines]\ntype = \"stdin\"\n%s[sinks.out]\ntype = \"stdout\"\ninputs = [\"shape\"]\n"
		indented := strings.ReplaceAll(program, "\n", "\n      ")
		for name, c := range map[string][2]string{
			"a.yaml": {yaml, "  shape:\n    type: remap\n    inputs: [lines]\n    source: |\n      " +
				strings.ReplaceAll(indented, "${", "$${") + "\n"},
			"a.toml": {toml, "[transforms.shape]\ntype = \"remap\"\ninputs = [\"lines\"]\nsource = \"\"\"" +
				strings.NewReplacer(`\`, `\\`, `"`, `\"`, "${", "$${").Replace(program) + "\"\"\"\n"},
		} {
			e := mistake(t, name, strings.Replace(c[0], "%s", c[1], 1))
			if e.Instead == "" {
				t.Errorf("%s: %s: %v", name, program, e)
				continue
			}
			if _, err := Parse(name, []byte(strings.Replace(c[0], "%s", e.Instead, 1)), shippers); err != nil {
				t.Errorf("%s: %s becomes\n%s\nand that is refused: %v", name, program, e.Instead, err)
			}
		}
	}
}

func TestWhatIsUnknownOfARemapIsNamed(t *testing.T) {
	head := "sources: { lines: { type: stdin } }\nsinks: { out: { type: stdout, inputs: [shape] } }\ntransforms:\n  " +
		"shape: { type: remap, inputs: [lines]"
	for source, says := range map[string]string{
		`, source: '.a = get_env_var!("X"); .b = 1'`: "get_env_var could not be translated",
		`, source: '.x = "{{ a }}"'`:                 "not one that could be translated",
		`, source: '. = parse_syslog!(.message)'`:    "parse_syslog could not be translated",
		``:            "decode takes lines apart",
		`, source: 3`: "decode takes lines apart",
	} {
		if e := mistake(t, "a.yaml", head+source+" }\n"); !strings.Contains(e.Error(), says) {
			t.Errorf("%s: %v", source, e)
		}
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
