//go:build !race

package javascript

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestHostileFunctionsEndNothingButTheirMessage runs functions that took an engine in the server's own process down.
// The message behind each is done.
func TestHostileFunctionsEndNothingButTheirMessage(t *testing.T) {
	p := pool(t)
	for name, code := range map[string]string{
		"a loop":               `for (;;);`,
		"a growing string":     `let s = "x"; for (;;) s += s;`,
		"a growing array":      `let a = []; for (;;) a.push([1, 2, 3]);`,
		"an array of ropes":    `let a = []; for (;;) a.push("x".repeat(1 << 20));`,
		"typed arrays":         `let a = []; for (;;) a.push(new Uint8Array(1 << 24).fill(1));`,
		"recursion":            `function g() { g() } g();`,
		"recursive getters":    `let o = {get x() { return o.x }}; return o.x;`,
		"recursive proxies":    `let p = new Proxy({}, {get: (t, k) => p[k]}); return p.x;`,
		"deep code":            `new Function("(".repeat(1e6) + ")".repeat(1e6));`,
		"deep brackets":        `eval("[".repeat(2e5) + "]".repeat(2e5));`,
		"a deep object":        `let o = {}; for (let i = 0; i < 3e5; i++) o = {o}; return JSON.stringify(o);`,
		"deep JSON":            `return JSON.parse("[".repeat(3e6));`,
		"a sparse sort":        `let a = []; a[4294967294] = 1; a.sort(); return a.join();`,
		"a regular expression": `/^(a|a)*$/.test("a".repeat(40) + "b"); return /(x+x+)+y/.test("x".repeat(50));`,
		"a large answer":       `return {data: "x".repeat(11 << 20)};`,
		"padding":              `return {data: "x".padEnd(2 ** 30, "yz")};`,
	} {
		t.Run(name, func(t *testing.T) {
			fs := []Function{function(`if (message.data === "now") {` + code + `} return message;`)}
			rs := run(t, p, fs, Message{Data: []byte("first")}, Message{Data: []byte("now")},
				Message{Data: []byte("behind")})
			if rs[0].Err != nil || string(rs[0].Data) != "first" || rs[2].Err != nil || string(rs[2].Data) != "behind" {
				t.Errorf("beside it: %+v %+v", rs[0], rs[2])
			}
			var wrong *FunctionError
			if name != "a regular expression" && !errors.As(rs[1].Err, &wrong) {
				t.Errorf("the message: %.100q %v", rs[1].Data, rs[1].Err)
			}
			t.Log(rs[1].Err)
		})
	}
}

// TestAProcessHasLittle looks at a process from outside.
func TestAProcessHasLittle(t *testing.T) {
	p := pool(t)
	run(t, p, []Function{function("return message")}, Message{})
	s := <-p.slots
	if s.child == nil {
		p.slots <- s
		s = <-p.slots
	}
	defer func() { p.slots <- s }()
	read := func(file string) string {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", s.child.cmd.Process.Pid, file))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if env := read("environ"); strings.Contains(env, "HOME") || strings.Contains(env, "PATH") {
		t.Errorf("its environment: %q", env)
	}
	for _, want := range []string{"Max data size             335544320 ", "Max file size             0 ",
		"Max open files            16 ", "Max core file size        0 "} {
		if limits := read("limits"); !strings.Contains(limits, want) {
			t.Errorf("its limits lack %q: %s", want, limits)
		}
	}
}
