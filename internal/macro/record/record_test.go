package record

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/pace"
)

func state(t *testing.T, text string) macro.State {
	t.Helper()
	s, err := macro.ParseState(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const ms = time.Millisecond

func TestChangesComeWithTheFrameThatBeginsNearest(t *testing.T) {
	type change struct {
		at    time.Duration
		state string
	}
	for name, c := range map[string]struct {
		changes []change
		end     time.Duration
		want    string
	}{
		"nothing before the first press": {[]change{{0, "5"}, {900 * ms, "2"}, {933 * ms, "5"}}, 2 * time.Second,
			"2 2\n"},
		"a jab and a pause": {[]change{{0, "lp"}, {50 * ms, "5"}, {150 * ms, "hp"}, {166 * ms, "5"}},
			time.Second, "lp 3\n5 6\nhp 1\n"},
		"held to the end": {[]change{{0, "lp"}}, 101 * ms, "lp 6\n"},
		"two buttons a moment apart": {[]change{{0, "lp"}, {3 * ms, "lp,lk"}, {34 * ms, "lk"}, {36 * ms, "5"}}, ms,
			"lp,lk 2\n"},
		"shorter than a frame": {[]change{{0, "lp"}, {3 * ms, "5"}, {51 * ms, "mp"}, {52 * ms, "5"}}, ms,
			"lp 1\n5 2\nmp 1\n"},
		"a motion within a frame": {[]change{{0, "2"}, {2 * ms, "3"}, {4 * ms, "6"}, {6 * ms, "6,lp"},
			{66 * ms, "5"}}, ms, "3 1\n6,lp 3\n"},
		"a motion too fast for frames": {[]change{{0, "2"}, {2 * ms, "6"}, {4 * ms, "4"}, {80 * ms, "5"}}, ms,
			"2 1\n6 1\n4 3\n"},
		"a clock that stands": {[]change{{5, "lp"}, {4, "5"}}, ms, "lp 1\n"},
	} {
		r := New(pace.NTSC())
		for _, x := range c.changes {
			if err := r.Add(x.at, state(t, x.state)); err != nil {
				t.Fatal(err)
			}
		}
		got, err := r.Text(c.end)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, not %q: %v", name, got, c.want, err)
		}
	}
}

func TestNothingIsNoRecording(t *testing.T) {
	r := New(pace.NTSC())
	if err := r.Add(0, macro.State{}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Text(time.Hour); !errors.Is(err, ErrEmpty) {
		t.Error(err)
	}
}

// TestWhatWasPlayedIsRecordedAgain: changes that are less than half a frame from where they belong come back to the
// frame, after an hour as at the beginning.
func TestWhatWasPlayedIsRecordedAgain(t *testing.T) {
	words := []string{"5", "2", "3", "6", "6,lp", "lp,mk", "9,hp", "rx=100", "l2,start"}
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 2))
		rate := pace.NTSC()
		r, n := New(rate), int64(0)
		var want []macro.Step
		for range 1 + random.IntN(80) {
			frames := 2 + random.Uint32N(6)
			if random.IntN(10) == 0 {
				frames = random.Uint32N(5000) + 2
			}
			s := state(t, words[random.IntN(len(words))])
			if len(want) == 0 && s == (macro.State{}) || len(want) > 0 && want[len(want)-1].State == s {
				continue
			}
			want = append(want, macro.Step{Frames: frames, State: s})
		}
		if len(want) == 0 || want[len(want)-1].State == (macro.State{}) {
			want = append(want, macro.Step{Frames: 3, State: state(t, "hk")})
		}
		begin := time.Duration(random.Int64N(int64(1e18)))
		for i, s := range want {
			jitter := time.Duration(0)
			if i > 0 {
				jitter = time.Duration(random.Int64N(int64(16*ms))) - 8*ms
			}
			if err := r.Add(begin+rate.Deadline(n)+jitter, s.State); err != nil {
				t.Fatal(err)
			}
			n += int64(s.Frames)
		}
		text, err := r.Text(begin + rate.Deadline(n) + 8*ms)
		if err != nil {
			t.Fatal(err)
		}
		script, err := macro.Read(text, macro.Options{})
		if err != nil || !slices.Equal(script.Tracks[0], want) {
			t.Fatalf("seed %d: %v\n%v, not\n%v", seed, err, script, want)
		}
	}
}

func TestARecordingHasAnEnd(t *testing.T) {
	r := New(pace.NTSC())
	all := []macro.State{state(t, "lp,mp,hp,lk,mk,hk,start,share,ps,l1"), state(t, "2")}
	n := int64(0)
	for ; ; n++ {
		if err := r.Add(r.rate.Deadline(n), all[n%2]); err != nil {
			if !errors.Is(err, ErrFull) {
				t.Fatal(err)
			}
			break
		}
	}
	text, err := r.Text(r.rate.Deadline(n))
	if err != nil {
		t.Fatal(err)
	}
	script, err := macro.Read(text, macro.Options{})
	if err != nil || script.Frames() != n {
		t.Errorf("%d frames of %d, %v", script.Frames(), n, err)
	}
	r = New(pace.NTSC())
	if err := r.Add(0, all[0]); err != nil {
		t.Fatal(err)
	}
	if err := r.Add(1000*time.Hour, all[1]); !errors.Is(err, ErrFull) {
		t.Errorf("a thousand hours: %v", err)
	}
	text, err = r.Text(1000 * time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if script, err = macro.Read(text, macro.Options{}); err != nil || script.Frames() != MaxFrames {
		t.Errorf("%q: %v", text, err)
	}
}
