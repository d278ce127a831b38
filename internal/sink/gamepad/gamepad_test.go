package gamepad_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/play"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/trace"
	"github.com/hikyaku/hikyaku/pace"
)

var host *pace.Host

func TestMain(m *testing.M) {
	host = pace.Child(play.Players())
	os.Exit(m.Run())
}

func started(t *testing.T, c gamepad.Config) component.Sink {
	t.Helper()
	s, err := gamepad.New(c, component.Env{Name: "pad", Pacer: host})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.(component.Starter).Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMacrosArePlayedInTheirOrderAndAnsweredEachByItself(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace")
	s := started(t, gamepad.Config{Device: "trace:" + file, Mirror: true})
	var batch []*message.Message
	for _, text := range []string{"lp 1\n6 1\n", "lq 2\nhp\n", "<player 2>\nhk 1\n</player>\n"} {
		batch = append(batch, &message.Message{Body: []byte(text)})
	}
	outcomes, err := s.Send(t.Context(), batch)
	if err != nil || len(outcomes) != len(batch) {
		t.Fatal(outcomes, err)
	}
	if outcomes[0].Verdict != component.Delivered || outcomes[2].Verdict != component.Delivered {
		t.Errorf("%v", outcomes)
	}
	if o := outcomes[1]; o.Verdict != component.Rejected || !strings.Contains(o.Reason.Error(), "line 1, column 1") ||
		!strings.Contains(o.Reason.Error(), "line 2, column 1") {
		t.Errorf("a macro with two mistakes: %v %v", o.Verdict, o.Reason)
	}
	counts := s.(component.Counter).Counts()
	if counts["frames"] != 3 {
		t.Errorf("%v", counts)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	events, err := trace.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range events {
		got = append(got, e.State.String())
	}
	if strings.Join(got, " ") != "lp 4 5 hk 5" {
		t.Errorf("played %q", got)
	}
}

// TestAMacroWithAMomentBeginsItsLeadBefore: it may be late, and is never early.
func TestAMacroWithAMomentBeginsItsLeadBefore(t *testing.T) {
	const lead = 200 * time.Millisecond
	s := started(t, gamepad.Config{Device: "trace:" + filepath.Join(t.TempDir(), "trace"), Lead: lead})
	defer s.Close()
	of := func(moment string) *message.Message {
		m := &message.Message{Body: []byte("lp 1\n")}
		m.Attributes.Set(gamepad.MomentAttribute, message.String(moment))
		return m
	}
	var at time.Time
	var outcomes []component.Outcome
	for ahead := 2 * lead; ; ahead *= 2 { // a machine with much else to do may need longer to come to it
		at = time.Now().Add(ahead)
		var err error
		outcomes, err = s.Send(t.Context(), []*message.Message{of(at.Format(time.RFC3339Nano)), of("noon"),
			of(time.Now().Add(-time.Minute).Format(time.RFC3339))})
		if err == nil && errors.Is(outcomes[0].Reason, play.ErrOver) {
			continue
		}
		if err != nil || outcomes[0].Verdict != component.Delivered {
			t.Fatal(outcomes, err)
		}
		break
	}
	if now := time.Now(); now.Before(at.Add(-lead)) {
		t.Errorf("it was over %s before its moment", at.Sub(now))
	}
	for i, says := range map[int]string{1: "play_at", 2: "its moment is over"} {
		if o := outcomes[i]; o.Verdict != component.Rejected || !strings.Contains(o.Reason.Error(), says) {
			t.Errorf("%d: %v %v", i, o.Verdict, o.Reason)
		}
	}
	if _, err := gamepad.New(gamepad.Config{Device: "uinput", Lead: 2 * time.Second}, component.Env{}); err == nil ||
		!strings.Contains(err.Error(), "lead") {
		t.Errorf("a lead of two seconds: %v", err)
	}
}

func TestAMacroThatTakesLongerThanARequestMayIsRejectedBeforeItBegins(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace")
	s := started(t, gamepad.Config{Device: "trace:" + file})
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// 3600 frames are 60.06 s
	long, far := &message.Message{Body: []byte("lp 3600\n")}, &message.Message{Body: []byte("lp 1\n")}
	far.Attributes.Set(gamepad.MomentAttribute, message.String(time.Now().Add(time.Hour).Format(time.RFC3339)))
	outcomes, err := s.Send(ctx, []*message.Message{long, far, {Body: []byte("hk 1\n")}})
	if err != nil || len(outcomes) != 3 {
		t.Fatal(outcomes, err)
	}
	for i, says := range []string{"the macro takes 1m1.1s", "sleep until shortly before"} {
		if o := outcomes[i]; o.Verdict != component.Rejected || !strings.Contains(o.Reason.Error(), says) ||
			!strings.Contains(o.Reason.Error(), "request.timeout_secs") {
			t.Errorf("%d: %v %v", i, o.Verdict, o.Reason)
		}
	}
	if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), "lp") ||
		!strings.Contains(string(text), "hk") {
		t.Errorf("%v\n%s", err, text)
	}
	if outcomes[2].Verdict != component.Delivered {
		t.Errorf("the one behind them: %v", outcomes[2])
	}
}

func TestAMissingDeviceIsTriedAgain(t *testing.T) {
	s := started(t, gamepad.Config{Device: "titanone-hid:" + filepath.Join(t.TempDir(), "hidraw0")})
	defer s.Close()
	outcomes, err := s.Send(t.Context(), []*message.Message{{Body: []byte("lp 1")}})
	if err != nil || outcomes[0].Verdict != component.Retry ||
		!strings.Contains(outcomes[0].Reason.Error(), "the device is not there") {
		t.Errorf("%v %v", outcomes, err)
	}
}

func TestAStoppedPipelineLetsGo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace")
	s := started(t, gamepad.Config{Device: "trace:" + file})
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	outcomes, err := s.Send(ctx, []*message.Message{{Body: []byte("lp 1000000")}})
	if err != nil || outcomes[0].Verdict != component.Retry {
		t.Errorf("%v %v", outcomes, err)
	}
}

func TestSettingsThatCannotBeMeantAreRefused(t *testing.T) {
	for name, c := range map[string]gamepad.Config{
		"device": {}, "device ": {Device: "uinpt"}, "device_2": {Device: "uinput", Device2: "trace"},
		"player": {Device: "uinput", Player: 3},
	} {
		_, err := gamepad.New(c, component.Env{})
		var setting *component.SettingError
		if !errors.As(err, &setting) || setting.Setting != strings.TrimSpace(name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
