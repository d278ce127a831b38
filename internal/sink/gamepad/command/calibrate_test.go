package command_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/sink/gamepad/command"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/play"
)

var update = flag.Bool("update", false, "write testdata anew")

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s; go test -update writes it anew. It is\n%s\nand was\n%s", name, got, want)
	}
}

func TestFindingsSayWhatToDo(t *testing.T) {
	var b strings.Builder
	writes := func(c *play.Calibration) *play.Calibration {
		for i := range 600 {
			c.Writes = append(c.Writes, time.Duration(20+i/100)*time.Microsecond)
		}
		return c
	}
	answering := writes(&play.Calibration{Reading: play.Answering})
	for i := range 600 {
		answering.Answers = append(answering.Answers, 7*time.Millisecond+time.Duration(i*i)*5*time.Nanosecond)
	}
	answering.Answers = append(answering.Answers, 80*time.Millisecond)
	b.WriteString(command.Findings("titanone-hid", answering))
	answering.Lost = 3
	same := writes(&play.Calibration{Reading: play.Answering})
	same.Answers = play.Times{150 * time.Millisecond}
	for _, c := range []*play.Calibration{answering, same, writes(&play.Calibration{Reading: play.Answering, Lost: 10}),
		writes(&play.Calibration{Reading: play.Silent}), writes(&play.Calibration{Reading: play.NoReading})} {
		b.WriteString("\n" + command.Findings("titanone", c))
	}
	golden(t, "findings.golden", b.String())
}

func TestADeviceThatCannotBeAskedIsCalibratedByItsWrites(t *testing.T) {
	var out bytes.Buffer
	dir := t.TempDir()
	one, two := "trace:"+filepath.Join(dir, "one"), "trace:"+filepath.Join(dir, "two")
	if err := command.Calibrate(t.Context(), 2, command.Options{Host: plain(), Devices: []string{one, two}, Out: &out,
		Terminal: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{one + ", 4 writes\n", two + ", 4 writes\n", "cannot be asked", "on: step 3 of 3"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no %q in %q", want, out.String())
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "two"))
	if err != nil || strings.Count(string(text), "lp") != 2 || !strings.HasSuffix(string(text), "5\n") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestACalibrationThatIsStoppedSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	file := filepath.Join(t.TempDir(), "trace")
	out := &lineWriter{told: make(chan string, 1)}
	ended := make(chan error, 1)
	go func() {
		ended <- command.Calibrate(ctx, command.MostRounds,
			command.Options{Host: plain(), Devices: []string{"trace:" + file}, Out: out, Terminal: true})
	}()
	<-out.told // how far it is
	cancel()
	if err := <-ended; !errors.Is(err, command.ErrStopped) || !strings.Contains(err.Error(), "of 200000 writes") {
		t.Error(err)
	}
	if err := command.Calibrate(t.Context(), 1, command.Options{Host: plain(), Devices: []string{"uinput:" + file},
		Out: new(bytes.Buffer)}); err == nil {
		t.Error("a file was calibrated")
	}
}

func TestAMomentIsToldByAClockOrInFull(t *testing.T) {
	tokyo := time.FixedZone("Tokyo", 9*3600)
	now := time.Date(2026, 3, 31, 20, 15, 0, 0, tokyo)
	for text, want := range map[string]string{
		"":                          "0001-01-01T00:00:00Z",
		"20:15:00.25":               "2026-03-31T20:15:00.25+09:00",
		"21:00":                     "2026-03-31T21:00:00+09:00",
		"20:15":                     "2026-04-01T20:15:00+09:00", // that was just now
		"00:00:00":                  "2026-04-01T00:00:00+09:00",
		"2026-12-24T18:00:00.5Z":    "2026-12-24T18:00:00.5Z",
		"2026-12-24T18:00:00+01:00": "2026-12-24T18:00:00+01:00",
	} {
		if got, err := command.ParseMoment(text, 0, now); err != nil || got.Format(time.RFC3339Nano) != want {
			t.Errorf("%q is %s, not %s: %v", text, got.Format(time.RFC3339Nano), want, err)
		}
	}
	for text, lead := range map[string]time.Duration{"noon": 0, "25:00": 0, "8": 0, "2026-12-24": 0, "20:16": -1,
		"20:17": play.MostLead + 1, "": time.Millisecond} {
		if got, err := command.ParseMoment(text, lead, now); err == nil {
			t.Errorf("%q with %s is %s", text, lead, got)
		}
	}
}

// TestAMacroWaitsForItsMoment: a frame is never written before it is due.
func TestAMacroWaitsForItsMoment(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace")
	const lead = 150 * time.Millisecond
	var out bytes.Buffer
	o := command.Options{Host: plain(), Devices: []string{"trace:" + file}, Out: &out, Lead: lead}
	for ahead := 2 * lead; ; ahead *= 2 { // a machine with much else to do may need longer to come to it
		o.At = time.Now().Add(ahead)
		err := command.Play(t.Context(), "x", []byte("lp 1\n"), o)
		if errors.Is(err, play.ErrOver) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	if now := time.Now(); now.Before(o.At.Add(-lead)) {
		t.Errorf("it was over %s before its moment", o.At.Sub(now))
	}
	if want := "The first frame is for " + o.At.Format(time.RFC3339) + ", in "; !strings.Contains(out.String(), want) {
		t.Errorf("there is no %q in %q", want, out.String())
	}
	o.At = time.Now().Add(-time.Hour)
	if err := command.Play(t.Context(), "x", []byte("lp 1\n"), o); !errors.Is(err, play.ErrOver) {
		t.Error(err)
	}
	o.At, o.Lead = time.Time{}, 2*play.MostLead
	if err := command.Play(t.Context(), "x", []byte("lp 1\n"), o); err == nil {
		t.Error("a lead of two seconds was taken")
	}
}

func FuzzParseMoment(f *testing.F) {
	for _, text := range []string{"20:15", "20:15:00.25", "2026-12-24T18:00:00.5+09:00", "", "T"} {
		f.Add(text)
	}
	now := time.Date(2026, 3, 31, 20, 15, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		at, err := command.ParseMoment(text, 0, now)
		if err == nil && len(text) < 20 && !at.IsZero() && !strings.Contains(text, "T") &&
			(!at.After(now) || at.Sub(now) > 24*time.Hour) {
			t.Fatalf("%q is %s", text, at)
		}
	})
}
