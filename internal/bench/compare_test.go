package bench_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench"
)

// program is one that says at each run the next of some rows, and the arguments it was given.
func program(t *testing.T, runs ...string) []string {
	t.Helper()
	dir := t.TempDir()
	for i, rows := range runs {
		text := fmt.Sprintf(`{"bench": "rest", "rows": [%s]}`, rows)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script := `echo "$*" >> "$0/asked"; n=$(wc -l < "$0/asked"); cat "$0/$((n-1))"`
	return []string{"/bin/sh", "-c", script, dir, "bench"}
}

// naps is a row of a bench.
func naps(perS, p50 float64) string {
	return fmt.Sprintf(`{"case": "ours", "work": "naps", "setting_ms": 5, "n": 7, "per_s": %v, "p50_ms": %v, "max_ms": %v}`,
		perS, p50, p50*100)
}

func TestAComparisonTellsAChangeFromNoise(t *testing.T) {
	before := program(t, naps(100, 1), naps(110, 2), naps(90, 1), naps(100, 2))
	now := program(t, naps(80, 1.1), naps(85, 1.8), naps(70, 1.1), naps(81, 1.9))
	var out, progress bytes.Buffer
	c := bench.Comparison{Before: before, Now: now, Args: []string{"rest", "--only", "naps"}, Rounds: 4, Out: &out,
		Progress: &progress, AtMost: 3}
	err := c.Run(t.Context())
	if !errors.Is(err, bench.ErrWorse) || !strings.Contains(fmt.Sprint(err), "messages/s of naps, ours: -21.1") ||
		strings.Contains(fmt.Sprint(err), "p50") {
		t.Errorf("a fifth fewer a second: %v", err)
	}
	text := out.String()
	for _, wants := range []string{"worse", "messages/s", "p50 ms"} {
		if strings.Count(text, wants) != 1 {
			t.Errorf("%q is not once in\n%s", wants, text)
		}
	}
	for _, no := range []string{"setting_ms", "max ms", "calls"} {
		if strings.Contains(text, no) {
			t.Errorf("%q is in\n%s", no, text)
		}
	}
	if n := strings.Count(progress.String(), "round "); n != 8 {
		t.Errorf("%d runs are told of 8:\n%s", n, &progress)
	}
	asked, err := os.ReadFile(filepath.Join(before[3], "asked"))
	if err != nil || strings.Count(string(asked), "bench rest --only naps --json\n") != 4 {
		t.Errorf("the program was asked for %s: %v", asked, err)
	}

	c.AtMost, c.Before, c.Now = 30, program(t, naps(100, 1), naps(100, 1), naps(100, 1), naps(100, 1)),
		program(t, naps(99, 1), naps(99, 1), naps(99, 1), naps(99, 1))
	if err := c.Run(t.Context()); err != nil {
		t.Errorf("worse by less than is allowed: %v", err)
	}
}

func TestAComparisonNamesWhatOnlyOneProgramMeasures(t *testing.T) {
	both := naps(1, 1) + `, {"case": "ours", "work": "nights", "per_s": 3}`
	var out bytes.Buffer
	c := bench.Comparison{Before: program(t, naps(1, 1), naps(1, 1), naps(1, 1)), Now: program(t, both, both, both),
		Args: []string{"rest"}, Rounds: 3, Out: &out}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "Note: nights, ours") || strings.Contains(out.String(), "naps") {
		t.Errorf("it says\n%s", &out)
	}
}

func TestAComparisonThatIsEndedSaysWhatItHas(t *testing.T) {
	for rounds, tells := range map[int]bool{2: false, 3: true} {
		ctx, cancel := context.WithCancel(t.Context())
		before := program(t, naps(2, 1), naps(2, 1), naps(2, 1))
		now := program(t, naps(1, 1), naps(1, 1), naps(1, 1))
		var out bytes.Buffer
		c := bench.Comparison{Before: before, Now: now, Args: []string{"rest"}, Rounds: 10, Out: &out,
			Progress: endsAt{rounds, cancel}}
		err := c.Run(ctx)
		note := fmt.Sprintf("ended early, after %d of 10 rounds", rounds)
		if !errors.Is(err, context.Canceled) || strings.Contains(out.String(), note) != tells ||
			strings.Contains(out.String(), "-50") != tells {
			t.Errorf("after %d rounds: %v; it says\n%s", rounds, err, &out)
		}
	}
}

// endsAt ends a comparison in the round behind so many.
type endsAt struct {
	rounds int
	end    func()
}

func (e endsAt) Write(line []byte) (int, error) {
	if strings.HasPrefix(string(line), fmt.Sprintf("round %d ", e.rounds+1)) {
		e.end()
	}
	return len(line), nil
}

func TestAComparisonTellsOfAProgramThatFails(t *testing.T) {
	c := bench.Comparison{Before: []string{"/bin/sh", "-c", "echo no disk >&2; exit 3"},
		Now: program(t, naps(1, 1)), Args: []string{"rest"}, Rounds: 3, Out: new(bytes.Buffer)}
	if err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "no disk") {
		t.Errorf("a program that fails: %v", err)
	}
	c.Rounds = 2
	if err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "2 rounds") {
		t.Errorf("two rounds: %v", err)
	}
}
