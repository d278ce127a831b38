package command_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/command"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/play"
	"github.com/hikyaku/hikyaku/pace"
)

func plain() *pace.Host { return pace.Plain(play.Players()) }

func TestARateMayLeaveOutItsUnit(t *testing.T) {
	for text, want := range map[string]string{"60000/1001": "60000/1001/s", "50": "50/s", "59.94/s": "59.94/s",
		"100/min": "100/min"} {
		rate, err := command.ParseRate(text)
		if exact, exactErr := pace.ParseRate(want); err != nil || exactErr != nil || rate != exact {
			t.Errorf("%s: %s, %v, %v", text, rate, err, exactErr)
		}
	}
	for _, text := range []string{"", "often", "0", "-1", "1/0"} {
		if rate, err := command.ParseRate(text); err == nil {
			t.Errorf("%q: %s", text, rate)
		}
	}
}

func TestPlayShowsHowFarItIsAndWhatBecameOfIt(t *testing.T) {
	var out bytes.Buffer
	o := command.Options{Host: plain(), Devices: []string{"trace:" + filepath.Join(t.TempDir(), "trace")}, Out: &out,
		Terminal: true}
	if err := command.Play(t.Context(), "x", []byte("lp 3\n"), o); err != nil {
		t.Fatal(err)
	}
	said := out.String()
	for _, want := range []string{"\rframe 3 of 3, 0.1 s of 0.1 s, latest ", "\n", "3 of 3 frames at 60000/1001/s",
		"lateness: median ", "on: step 3 of 3"} {
		if !strings.Contains(said, want) {
			t.Errorf("there is no %q in %q", want, said)
		}
	}
}

func TestATraceOnTheStandardErrorHasNoLineWrittenOverIt(t *testing.T) {
	var out bytes.Buffer
	o := command.Options{Host: plain(), Devices: []string{"trace:-"}, Out: &out, Terminal: true}
	if err := command.Play(t.Context(), "x", []byte("lp 1\n"), o); err != nil || strings.Contains(out.String(), "\r") {
		t.Errorf("%v %q", err, out.String())
	}
}

func TestAPlayThatIsStoppedSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	o := command.Options{Host: plain(), Devices: []string{"trace:" + filepath.Join(t.TempDir(), "trace")}, Out: &out}
	if err := command.Play(ctx, "x", []byte("lp 3000"), o); !errors.Is(err, command.ErrStopped) {
		t.Error(err)
	}
}

func TestMistakesKeepTheirText(t *testing.T) {
	_, err := command.Compile("-", []byte("lq 2"), macro.Options{})
	var mistakes *command.MistakesError
	if !errors.As(err, &mistakes) || !strings.HasPrefix(err.Error(), "stdin:1:1: there is no button") ||
		!errors.As(err, new(macro.Mistakes)) {
		t.Error(err)
	}
}

// lineWriter tells what is written to it.
type lineWriter struct {
	mu   sync.Mutex
	said string
	told chan string
}

func (w *lineWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said += string(b)
	select {
	case w.told <- w.said:
	default:
	}
	return len(b), nil
}

func TestServeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out := &lineWriter{told: make(chan string, 1)}
	file := filepath.Join(t.TempDir(), "trace")
	ended := make(chan error, 1)
	go func() {
		ended <- command.Serve(ctx, command.Page{Listen: "127.0.0.1:0", Text: command.Welcome},
			command.Options{Host: plain(), Devices: []string{"trace:" + file}, Out: out})
	}()
	url := regexp.MustCompile(`http://[^/]+/`).FindString(<-out.told)
	r, err := http.Post(url+"run", "application/json", strings.NewReader(`{"text":"hk 1000000"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// It may have been stopped before its first frame; what was pressed was let go in any case.
	if lines := strings.Split(strings.TrimSpace(string(text)), "\n"); strings.Contains(string(text), "hk") &&
		!strings.HasPrefix(lines[len(lines)-1], "-\t") {
		t.Errorf("%s", text)
	}
	if _, err := command.Compile("welcome", []byte(command.Welcome), macro.Options{}); err != nil {
		t.Error(err)
	}
}

func TestAnAddressThatIsTakenIsTold(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	err = command.Serve(t.Context(), command.Page{Listen: l.Addr().String()},
		command.Options{Host: plain(), Devices: []string{"trace:" + filepath.Join(t.TempDir(), "trace")},
			Out: new(bytes.Buffer)})
	if err == nil || !strings.HasPrefix(err.Error(), "the page: ") || !strings.Contains(err.Error(), "--listen") {
		t.Error(err)
	}
}
