package function_test

import (
	"os"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/function"
)

// What a handler says by Python's own logging is in the log from its level on, with the invocation that said it, as the
// provider's client has it.
func TestWhatPythonLogsIsInTheLog(t *testing.T) {
	// the system's, if there is one: the shims of version managers are slow
	t.Setenv("PATH", "/usr/bin:"+os.Getenv("PATH"))
	p := open(t, function.Config{})
	scripted(t, p, "python3", "testdata/python", "app.logs")
	r := invoke(t, p, `{"a":1}`)
	if string(r.Payload) != `"logged"` {
		t.Fatalf("%s", r.Payload)
	}
	log := text(t, p)
	for _, want := range []string{"Z\t\tit starts\n", "Z\t" + r.RequestID + "\tfor 1\n", "[WARNING]\t",
		"Z\t" + r.RequestID + "\ttwo\nlines\n"} {
		contains(t, "the log", log, want)
	}
	if strings.Index(log, "it starts") > strings.Index(log, "START RequestId") {
		t.Errorf("what the start logs comes behind START:\n%s", log)
	}
}

func TestAnErrorInPythonNamesItsInvocation(t *testing.T) {
	t.Setenv("PATH", "/usr/bin:"+os.Getenv("PATH"))
	p := open(t, function.Config{})
	scripted(t, p, "python3", "testdata/python", "app.raises")
	r := invoke(t, p, `{}`)
	contains(t, "the payload", string(r.Payload), `"requestId": "`+r.RequestID+`", "stackTrace": ["  File `)
}

// Programs that a function has forked share their pages, which are counted for each of them: where a limit holds, it is
// the most that there can be.
func TestMemoryUnderALimitIsAtMostTheLimit(t *testing.T) {
	t.Setenv("PATH", "/usr/bin:"+os.Getenv("PATH"))
	p := open(t, function.Config{})
	if !p.Machine().Limits.Memory {
		return // nothing says what can be
	}
	scripted(t, p, "python3", "testdata/python", "app.forks")
	r := invoke(t, p, `{}`)
	if r.FunctionError != "" || r.Usage.PeakMB < 60 || r.Usage.PeakMB > 256 {
		t.Errorf("%d MB of 256, with %s", r.Usage.PeakMB, r.Payload)
	}
	if s, err := p.Stats("f", ""); err != nil || len(s.Instances) != 1 || s.Instances[0].PeakMB > 256 {
		t.Errorf("%+v, %v", s, err)
	}
}
