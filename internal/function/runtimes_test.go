package function_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/code"
)

// scripted deploys f with a script as its code.
func scripted(t *testing.T, p *function.Pool, runtime, dir, handler string) {
	t.Helper()
	deploy(t, p, func(d *function.Definition) {
		single(d)
		d.Runtime, d.Handler, d.Code = runtime, handler, code.Source{Folder: dir}
	})
}

func TestNodeHandlersOfEveryForm(t *testing.T) {
	p := open(t, function.Config{})
	scripted(t, p, "nodejs20.x", "testdata/node", "index.any")
	for _, c := range []struct{ do, want, kind, log string }{
		{"callback", `{"called":{"do":"callback"}}`, "", ""},
		{"late", `"early"`, "", "behind the callback"},
		{"succeed", `"succeeded"`, "", ""},
		{"done", `"done"`, "", ""},
		{"nothing", `null`, "", ""},
		{"promise", `{"kept":true}`, "", ""},
		{"fail", `"errorMessage":"too far"`, "RangeError", ""},
		{"rejects", `"errorType":"TypeError","errorMessage":"no such thing","trace":["TypeError: no such thing"`,
			"TypeError", "Invoke Error"},
		{"throws", `"errorMessage":"thrown"`, "Error", ""},
		{"callbackError", `{"errorType":"string","errorMessage":"plain words","trace":[]}`, "string", ""},
		{"circular", `Unable to stringify response body`, "Runtime.MarshalError", ""},
		{"noWait", `"at once"`, "", ""}, // it leaves a timer
		{"uncaught", `"errorMessage":"from nowhere"`, "Error", "Uncaught Exception"},
		{"promise", `{"kept":true}`, "", ""}, // in another process
	} {
		t.Run(c.do, func(t *testing.T) {
			r := invoke(t, p, `{"do":"`+c.do+`"}`)
			if r.ErrorType != c.kind || (r.FunctionError != "") != (c.kind != "") {
				t.Errorf("error %q of type %q", r.FunctionError, r.ErrorType)
			}
			contains(t, "the payload", string(r.Payload), c.want)
			contains(t, "the log", string(r.LogTail), c.log)
		})
	}
}

func TestNodeFindsHandlersAndSaysWhatIsWrong(t *testing.T) {
	p := open(t, function.Config{})
	for _, c := range []struct{ handler, want, kind string }{
		{"index.nested.deep.handler", `"deep"`, ""},
		{"modern.handler", `{"module":{"a":1}}`, ""},
		{"index.missing", `index.missing is undefined or not exported`, "Runtime.HandlerNotFound"},
		{"index", `is no handler: write it as file.export`, "Runtime.MalformedHandlerName"},
		{"absent.handler", `Cannot find module 'absent'`, "Runtime.ImportModuleError"},
		{"needs.handler", `Cannot find module 'no-such-module'`, "Runtime.ImportModuleError"},
		{"broken.handler", `SyntaxError`, "Runtime.UserCodeSyntaxError"},
		{"throws.handler", `"errorMessage":"no configuration"`, "RangeError"},
	} {
		t.Run(c.handler, func(t *testing.T) {
			scripted(t, p, "nodejs20.x", "testdata/node", c.handler)
			r := invoke(t, p, `{"a":1}`)
			if r.ErrorType != c.kind || (r.FunctionError != "") != (c.kind != "") {
				t.Errorf("error %q of type %q", r.FunctionError, r.ErrorType)
			}
			contains(t, "the payload", string(r.Payload), c.want)
		})
	}
	contains(t, "the log", text(t, p), "Phase: init\tStatus: error\tError Type: Runtime.HandlerNotFound")
}

func TestNodeKeepsItsInstanceAndItsLogNamesTheInvocation(t *testing.T) {
	p := open(t, function.Config{})
	scripted(t, p, "nodejs", "testdata/node", "index.async")
	for n := range 3 {
		var got struct {
			Event string
			ID    string
			Name  string
			Count int
			Left  bool
		}
		r := answer(t, p, `"日本"`, &got)
		if got.Event != "日本" || got.ID != r.RequestID || got.Name != "f" || got.Count != n+1 || !got.Left {
			t.Errorf("%s", r.Payload)
		}
	}
	scripted(t, p, "nodejs", "testdata/node", "index.prints")
	r := invoke(t, p, `{}`)
	contains(t, "the log's end", string(r.LogTail), "Z\t"+r.RequestID+"\tINFO\thello there\n", "\tERROR\ttwo\rlines\n")
}

func TestNodeStreams(t *testing.T) {
	p := open(t, function.Config{})
	scripted(t, p, "nodejs", "testdata/node", "index.stream")
	s := &pieces{}
	r, err := p.InvokeStream(t.Context(), function.Request{Function: "f", Payload: []byte("{}")}, s)
	if err != nil || r.FunctionError != "" || s.kind != "application/vnd.awslambda.http-integration-response" ||
		s.String() != "{\"statusCode\":201}\x00\x00\x00\x00\x00\x00\x00\x00one two" {
		t.Errorf("%q of type %q: %+v, %v", s.String(), s.kind, r, err)
	}
	if whole := invoke(t, p, "{}"); string(whole.Payload) != s.String() {
		t.Errorf("without streaming: %q", whole.Payload)
	}
	scripted(t, p, "nodejs", "testdata/node", "index.brokenStream")
	s = &pieces{}
	r, err = p.InvokeStream(t.Context(), function.Request{Function: "f", Payload: []byte("{}")}, s)
	if err != nil || s.String() != "begun" || r.FunctionError != "Unhandled" ||
		!strings.Contains(string(r.Payload), "in the middle") {
		t.Errorf("%q: %+v with %s, %v", s.String(), r, r.Payload, err)
	}
}

func TestPythonHandlers(t *testing.T) {
	// the system's, if there is one: the shims of version managers are slow
	t.Setenv("PATH", "/usr/bin:"+os.Getenv("PATH"))
	p := open(t, function.Config{})
	for _, c := range []struct{ handler, want, kind, log string }{
		{"app.prints", `"printed ✓"`, "", "hello\n"},
		{"app.raises", `{"errorMessage": "not this", "errorType": "ValueError", "requestId": "`, "ValueError",
			"[ERROR] ValueError: not this"},
		{"app.leaves", `Runtime exited with error: exit status 3`, "Runtime.ExitError", ""},
		{"app.date", `Unable to marshal response: Object of type date is not JSON serializable`, "Runtime.MarshalError",
			""},
		{"app.missing", `Handler 'missing' missing on module 'app'`, "Runtime.HandlerNotFound", "Phase: init"},
		{"handler", `Bad handler 'handler'`, "Runtime.MalformedHandlerName", ""},
		{"absent.handler", `Unable to import module 'absent': No module named 'absent'`, "Runtime.ImportModuleError",
			""},
		{"needs.handler", `Unable to import module 'needs': No module named 'no_such_module'`,
			"Runtime.ImportModuleError", ""},
		{"broken.handler", `Syntax error in module 'broken'`, "Runtime.UserCodeSyntaxError", ""},
		{"throws.handler", `{"errorMessage": "no configuration", "errorType": "LookupError"`, "LookupError",
			"Phase: init\tStatus: error\tError Type: LookupError"},
	} {
		t.Run(c.handler, func(t *testing.T) {
			scripted(t, p, "python3", "testdata/python", c.handler)
			r := invoke(t, p, `{"a":1}`)
			if r.ErrorType != c.kind || (r.FunctionError != "") != (c.kind != "") {
				t.Errorf("error %q of type %q", r.FunctionError, r.ErrorType)
			}
			contains(t, "the payload", string(r.Payload), c.want)
			contains(t, "the log", text(t, p), c.log)
		})
	}
	scripted(t, p, "python", "testdata/python", "app.handler")
	if r := invoke(t, p, `no JSON {`); r.ErrorType != "Runtime.UnmarshalError" ||
		!strings.Contains(string(r.Payload), "Unable to unmarshal input") {
		t.Errorf("an event that is no JSON: %s of type %s", r.Payload, r.ErrorType)
	}
	scripted(t, p, "python", "testdata/python", "app.handler")
	for n := range 3 {
		var got struct {
			Event, ID, Name string
			Count           int
			Left            bool
		}
		r := answer(t, p, `"日本"`, &got)
		if got.Event != "日本" || got.ID != r.RequestID || got.Name != "f" || got.Count != n+1 || !got.Left {
			t.Errorf("%s", r.Payload)
		}
	}
}

// Python's library has been compiled when it was installed; a start that compiled it anew would take several times as
// long.
func TestPythonUsesWhatIsCompiledAndWritesNothing(t *testing.T) {
	p := open(t, function.Config{})
	code := t.TempDir()
	for _, name := range []string{"app.py", "needs.py"} {
		text, err := os.ReadFile(filepath.Join("testdata", "python", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(code, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	scripted(t, p, "python3", code, "app.compiled")
	if r := invoke(t, p, `{}`); string(r.Payload) != `{"prefix": null, "writes": false, "library": true}` {
		t.Errorf("%s", r.Payload)
	}
	if left, err := os.ReadDir(code); err != nil || len(left) != 2 {
		t.Errorf("beside the function's files there is something: %v, %v", left, err)
	}
}

// A bootstrap in the shell with curl, as the provider's tutorial has one in its own words.
const shell = `#!/bin/sh
api=http://$AWS_LAMBDA_RUNTIME_API/2018-06-01/runtime/invocation
while true; do
	event=$(curl -sS -D "$TMPDIR/head" "$api/next")
	id=$(grep -i Lambda-Runtime-Aws-Request-Id "$TMPDIR/head" | tr -d '[:space:]' | cut -d: -f2)
	echo "shell has $event"
	curl -sS -o "$TMPDIR/told" "$api/$id/response" -d "{\"echo\": $event}"
done
`

func TestAShellWithCurlIsARuntime(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bootstrap"), []byte(shell), 0o755); err != nil {
		t.Fatal(err)
	}
	p := open(t, function.Config{})
	scripted(t, p, "provided.al2", dir, "")
	for _, event := range []string{`{"n":1}`, `"` + strings.Repeat("x", 100_000) + `"`} {
		var got struct{ Echo json.RawMessage }
		r := answer(t, p, event, &got)
		if string(got.Echo) != event {
			t.Errorf("%.100s", r.Payload)
		}
		contains(t, "the log's end", string(r.LogTail), "END RequestId: ")
	}
	contains(t, "the log", text(t, p), `shell has {"n":1}`)
}

func TestAnyCommandCanBeARuntime(t *testing.T) {
	p := open(t, function.Config{})
	deploy(t, p, func(d *function.Definition) {
		d.Runtime, d.Command = "command",
			[]string{"./bootstrap", "an argument"}
	})
	if r := invoke(t, p, `"mine"`); string(r.Payload) != `"mine"` {
		t.Errorf("%+v", r)
	}
}
