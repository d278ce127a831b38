package functions_test

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/code"
)

func TestMain(m *testing.M) {
	// OpenCensus, which a client of Google's that the bench uses brings along, keeps a goroutine for the life of the
	// process.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"))
}

// A language is a runtime with its client and our functions.
type language struct {
	name, runtime string
	handlers      map[string]string // of the functions that the tests want
	client        string            // a file of the folder by which it is seen that the client is there
	failure       string            // the type of what fail fails with
}

func languages() []language {
	return []language{
		{"go", "provided.al2023", map[string]string{"echo": "echo", "pid": "pid", "fail": "fail", "wait1": "wait1",
			"wait3": "wait3", "about": "context"}, "bootstrap", "TooFar"},
		{"java", "java17", map[string]string{
			"echo": "Echo::myHandler", "pid": "Pid::myHandler", "fail": "Fail", "wait1": "Wait1::myHandler",
			"wait3": "Wait3::myHandler", "about": "About::myHandler", "stream": "Streamed",
		}, "lib/aws-lambda-java-runtime-interface-client-2.6.0.jar", "Fail$TooFar"},
		{"node", "nodejs20.x", map[string]string{"echo": "index.echo", "pid": "index.pid", "fail": "more.fail",
			"wait1": "index.wait1", "wait3": "index.wait3", "about": "more.context"},
			"node_modules/aws-lambda-ric/dist/rapid-client.node", "TooFar"},
		{"python", "python3", map[string]string{"echo": "app.echo", "pid": "app.pid", "fail": "more.fail",
			"wait1": "app.wait1", "wait3": "app.wait3", "about": "more.about"},
			"awslambdaric/__main__.py", "TooFar"},
		{"rust", "provided.al2023", map[string]string{"echo": "echo", "pid": "pid", "fail": "fail", "wait1": "wait1",
			"wait3": "wait3", "about": "context"}, "bootstrap", "TooFar"},
	}
}

// deploy opens a pool with a function of the language, changed as the test wants.
func (l language) deploy(t *testing.T, name string, change func(*function.Definition)) *function.Pool {
	t.Helper()
	folder, err := filepath.Abs(filepath.Join("../../..", ".cache", "clients", "functions", "code", l.name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, l.client)); err != nil {
		t.Fatalf("the client for %s is not installed: %v\nscripts/need-clients does that", l.name, err)
	}
	p, err := function.New(function.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	one := 1
	d := function.Definition{
		Name: "f", Runtime: l.runtime, Handler: l.handlers[name], Code: code.Source{Folder: folder}, MemoryMB: 512,
		Reserved:    &one,
		Environment: map[string]string{"WAIT_MS": "20", "PYTHONDONTWRITEBYTECODE": "1"},
	}
	// The machine may be busy with other tests.
	d.Timeout, d.InitTimeout = aWhile, aWhile
	if change != nil {
		change(&d)
	}
	if _, err := p.Deploy(d); err != nil {
		t.Fatal(err)
	}
	return p
}
