package function

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/function/logbook"
)

// answering is a line to a server that gives this answer to whatever it is asked.
func answering(t *testing.T, answer string) *functionLine {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = conn.Read(make([]byte, 4096)) // the request, which comes at once
		_, _ = io.WriteString(conn, answer)
		_ = conn.Close()
	}()
	line, err := openFunctionLine(t.Context(), l.Addr().String(), "/function")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = line.Close(), l.Close()
		<-ended
	})
	return line
}

func TestAFunctionLineTakesAnAnswerAndNoError(t *testing.T) {
	for answer, says := range map[string]string{
		"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ntrue":                                  "",
		"HTTP/1.1 200 OK\r\nX-Other: content-length: 9\r\ncontent-length:4\r\n\r\ntrue":     "",
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Amz-Function-Error: Unhandled\r\n\r\n{}": "a function was answered for with HTTP/1.1 200 OK: {}",
		"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 2\r\n\r\n{}":                     "429 Too Many Requests: {}",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ntrue\r\n0\r\n\r\n":       "has no length",
		"HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n":                           "999999999999 bytes",
		"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n":                                   `a length of "many"`,
		"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\ntrue":                                 "unexpected EOF",
		"HTTP/1.1 200 OK\r\nContent-Length: 4":                                              "EOF",
		"":                                                                                  "EOF",
	} {
		err := answering(t, answer).ask()
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%q: %v, want %q", answer, err, says)
		}
	}
}

func TestAnEmulatorsAddressIsAURL(t *testing.T) {
	for _, address := range []string{"", "localhost:8080", "https://localhost:8080", "http://", "://"} {
		if _, err := openEmulatorLine(t.Context(), address); err == nil ||
			!strings.Contains(err.Error(), "http://host:port") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// FuzzAfterHeader: a value is always the end of its line.
func FuzzAfterHeader(f *testing.F) {
	f.Add("Content-Length: 12")
	f.Add("content-length:")
	f.Add("content-length")
	f.Add(":")
	f.Fuzz(func(t *testing.T, line string) {
		value, ok := afterHeader([]byte(line), "content-length")
		if ok && !strings.HasSuffix(strings.TrimSpace(line), string(value)) {
			t.Errorf("%q: %q", line, value)
		}
	})
}

func TestStacksOfEveryLanguageAreRead(t *testing.T) {
	for name, c := range map[string]struct {
		lines           []string
		threads, frames int
		outermost       string
	}{
		"go": {[]string{"goroutine 1 [running]:", "main.stacktrace({0x1, 0x2})", "\t/main.go:3 +0x1", "main.run()",
			"\t/main.go:2", "main.main()", "", "goroutine 6 [select]:", "main.other()"}, 2, 3, "main.main"},
		"java": {[]string{"at StackTrace.myHandler(StackTrace.java:8)", "at AWSLambda.main(AWSLambda.java:5)",
			`"main" prio=5 Id=1 RUNNABLE`, "\tat sun.Dump.all(Native Method)", `"Finalizer" Id=3`}, 2, 2,
			"AWSLambda.main"},
		"node": {[]string{"2026 INFO Error: For stack trace\r    at exports.stacktrace (/index.js:3:4)\r    at " +
			"serve (/node.js:5:6)", `"TCPSocketWrap"`}, 1, 2, "serve"},
		"python": {[]string{`"MainThread" Id=1`, `  File "/python.py", line 3, in <module>`, "    main()",
			`  File "/app.py", line 9, in stacktrace`}, 1, 2, "python.py <module>"},
		"none": {nil, 0, 0, ""},
	} {
		var call invoked
		for _, text := range c.lines {
			call.lines = append(call.lines, logbook.Line{Text: text})
		}
		call.lines = append(call.lines, logbook.Line{Text: "at REPORT", Ours: true})
		found := readStacks(&call)
		if len(found.threads) != c.threads || len(found.frames) != c.frames || c.frames > 0 &&
			found.frames[c.frames-1] != c.outermost {
			t.Errorf("%s: %q, %q", name, found.threads, found.frames)
		}
	}
}

func TestWhatAProgramPrintsIsKeptWithinABound(t *testing.T) {
	var h headOf
	w := bufio.NewWriterSize(&h, 16)
	for range 1000 {
		if _, err := w.WriteString("0123456789"); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil || len(h.String()) != 4096 || !strings.HasPrefix(h.String(), "01234567890") {
		t.Errorf("%d bytes, %v", len(h.String()), err)
	}
}
