package javascript

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"
)

func pool(t *testing.T) *Pool {
	t.Helper()
	p := New(Options{Time: 100 * time.Millisecond})
	t.Cleanup(p.Close)
	return p
}

// function is one called f.
func function(body string) Function {
	return Function{Name: "f", Code: "function f(message, metadata) {" + body + "}"}
}

func run(t *testing.T, p *Pool, fs []Function, ms ...Message) []Result {
	t.Helper()
	rs, err := p.Run(t.Context(), fs, ms)
	if err != nil {
		t.Fatal(err)
	}
	if len(rs) != len(ms) {
		t.Fatalf("%d results for %d messages", len(rs), len(ms))
	}
	return rs
}

func TestFunctionsChangeAndDropMessages(t *testing.T) {
	p := pool(t)
	at := time.Date(2026, 11, 23, 1, 2, 3, 0, time.UTC)
	m := Message{Data: []byte("日本"), Attributes: map[string]string{"a": "1"}, ID: "id", Key: "k", Time: at}
	for code, want := range map[string]string{
		`return message;`:                      "日本 map[a:1]",
		`message.data += "語"; return message;`: "日本語 map[a:1]",
		`message.attributes.b = metadata.ordering_key + metadata.message_id; return message;`:                                 "日本 map[a:1 b:kid]",
		`return {data: metadata.publish_time};`:                                                                               "2026-11-23T01:02:03Z map[a:1]",
		`return {data: "x", attributes: {}};`:                                                                                 "x map[]",
		`const {data, ...rest} = message; return {data: JSON.stringify([...data].map(c => c.length)), attributes: {n: "2"}};`: "[1,1] map[n:2]",
		`return {data: (1234.5).toLocaleString('en-US')};`:                                                                    "1,234.5 map[a:1]",
		`return null;`:                           "dropped",
		`return;`:                                "function f: it returned nothing: a message or null is expected",
		`return "x";`:                            "function f: it returned string: a message or null is expected",
		`return {};`:                             "function f: it returned no data, or data that is no string",
		`return {data: 1};`:                      "function f: it returned no data, or data that is no string",
		`return {data: "", attributes: 1};`:      "function f: it returned attributes that are no object",
		`return {data: "", attributes: {a: 1}};`: `function f: it returned attribute "a" that is no string`,
		`throw new Error("no");`:                 "function f: Error: no at f (f:1:",
		`return {get data() { throw new Error("no") }};`: "Error: no",
		`return message.a.b;`:                            "function f: TypeError: Cannot read property 'b' of undefined",
		`require("fs");`:                                 "function f: ReferenceError: require is not defined",
		`fetch("http://x");`:                             "function f: ReferenceError: fetch is not defined",
		`setTimeout(f, 1);`:                              "function f: ReferenceError: setTimeout is not defined",
		`process.exit(1);`:                               "function f: ReferenceError: process is not defined",
		`return {data: "\ud800"};`:                       "\ufffd map[a:1]",
	} {
		m := m
		m.Attributes = maps.Clone(m.Attributes)
		r := run(t, p, []Function{function(code)}, m)[0]
		got := fmt.Sprint(string(r.Data), " ", r.Attributes)
		switch {
		case r.Err != nil:
			got = r.Err.Error()
		case r.Dropped:
			got = "dropped"
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s\n\tgives %q, not %q", code, got, want)
		}
	}
	if r := run(t, p, []Function{function("return message")}, Message{Data: []byte{0xff}})[0]; r.Err == nil {
		t.Errorf("data that is no text: %+v", r)
	}
}

func TestFunctionsFollowEachOtherUntilOneDropsTheMessage(t *testing.T) {
	p := pool(t)
	fs := []Function{
		{"double", `const double = m => ({data: m.data + m.data});`},
		{"odd", `function odd(m) { return m.data.startsWith("b") ? null : m }`},
		{"last", `let n = 0; class X {}; function last(m) { m.data += ++n; return m }`},
	}
	got := ""
	for _, r := range run(t, p, fs, Message{Data: []byte("a")}, Message{Data: []byte("b")},
		Message{Data: []byte("c")}) {
		got += fmt.Sprintf("%s%v%v ", r.Data, r.Dropped, r.Err)
	}
	if want := "aa1false<nil> btrue<nil> cc2false<nil> "; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

func TestAFunctionIsChecked(t *testing.T) {
	p := pool(t)
	for _, c := range []struct {
		f    Function
		want string
	}{
		{function("return message"), ""},
		{Function{"f", "let f = function(m) { return m }"}, ""},
		{Function{"g", "function f() {}"}, "the code defines no function g"},
		{Function{"f", "var f = 1"}, "the code defines no function f"},
		{Function{"f", "function f( {"}, "SyntaxError"},
		{Function{"f", "throw 1; function f() {}"}, "1"},
		{Function{"f()", "function f() {}"}, "that is no name of a function"},
		{Function{"", "function f() {}"}, "that is no name of a function"},
		{Function{"f", "for (;;); function f() {}"}, "it took longer than 100ms"},
	} {
		err := p.Check(t.Context(), c.f)
		var wrong *FunctionError
		if c.want == "" && err != nil || c.want != "" &&
			(!errors.As(err, &wrong) || !strings.Contains(wrong.Reason, c.want)) {
			t.Errorf("%+v: %v, not %q", c.f, err, c.want)
		}
	}
}

func TestWhoGivesUpOrClosesIsAnsweredAtOnce(t *testing.T) {
	p := New(Options{Processes: 1})
	loop := []Function{function("for (;;);")}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := p.Run(ctx, loop, []Message{{}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("given up: %v", err)
	}
	begun := make(chan error)
	go func() {
		_, err := p.Run(context.Background(), loop, make([]Message, 100))
		begun <- err
	}()
	p.Close()
	p.Close()
	if err := <-begun; !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	if _, err := p.Run(t.Context(), loop, []Message{{}}); !errors.Is(err, ErrClosed) {
		t.Errorf("after the close: %v", err)
	}
}

// What time is left for is done; the rest is told apart.
func TestWhatThereIsNoTimeForIsLate(t *testing.T) {
	p := pool(t)
	run(t, p, []Function{function("return message")}, Message{})
	ctx, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond)
	defer cancel()
	rs, err := p.Run(ctx, []Function{function(`if (message.data) for (;;); return message;`)},
		[]Message{{}, {Data: []byte("x")}, {Data: []byte("x")}, {Data: []byte("x")}, {}})
	if err != nil || rs[0].Err != nil || !errors.Is(rs[4].Err, ErrLate) {
		t.Errorf("%+v %v", rs, err)
	}
}

// A process ends after some time without work, and the next request has another.
func TestAProcessWithoutWorkEnds(t *testing.T) {
	p := New(Options{Processes: 1, Idle: time.Millisecond})
	t.Cleanup(p.Close)
	for range 5 {
		run(t, p, []Function{function("return message")}, Message{})
		time.Sleep(2 * time.Millisecond)
	}
}
