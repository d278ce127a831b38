package pace_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/pace"
)

// story plays frames, each taken so late after it was due, and returns which they were and when, in milliseconds, the
// schedule wanted the next one.
func story(t *testing.T, p pace.Policy, lates ...time.Duration) (frames, dues []int64, s pace.Schedule) {
	t.Helper()
	r, err := pace.Every(1, 10*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	s = pace.NewSchedule(r, p)
	start := time.Unix(1000, 0)
	now := start
	for _, late := range lates {
		_, due := s.Next()
		if due.IsZero() {
			due = start
		}
		if due.After(now) {
			now = due
		}
		now = now.Add(late)
		frame, _ := s.Take(now)
		frames, dues = append(frames, frame), append(dues, due.Sub(start).Milliseconds())
	}
	return frames, dues, s
}

func TestPoliciesDecideAboutFramesThatAreLate(t *testing.T) {
	const ms = time.Millisecond
	for p, want := range map[pace.Policy]string{
		pace.CatchUp: "[0 1 2 3 4 5 6] [0 10 20 30 40 50 60]",
		pace.Skip:    "[0 1 2 5 6 7 8] [0 10 20 30 60 70 80]", // when 3 was to be played, 5 was due
		pace.Shift:   "[0 1 2 3 4 5 6] [0 10 20 30 65 75 85]", // 3 ms are no reason, 25 are
		pace.Strict:  "[0 1 2 3 4 5 6] [0 10 23 33 68 78 88]",
	} {
		frames, dues, s := story(t, p, 0, 3*ms, 0, 25*ms, 0, 0, 0)
		if got := fmt.Sprint(frames, dues); got != want {
			t.Errorf("%v: %s, want %s", p, got, want)
		}
		if skipped := s.Skipped(); skipped != map[bool]int64{true: 2}[p == pace.Skip] {
			t.Errorf("%v: %d skipped", p, skipped)
		}
	}
	if got := fmt.Sprint(pace.CatchUp, pace.Skip, pace.Shift, pace.Strict,
		pace.Policy(7)); got != "catch-up skip shift strict Policy(7)" {
		t.Error(got)
	}
}

func TestNoPolicyDriftsWhenNothingIsAWholeFrameLate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, _ := pace.PerSecond(rapid.Int64Range(1, 100_000).Draw(t, "num"), rapid.Int64Range(1, 2000).Draw(t, "den"))
		p := rapid.SampledFrom([]pace.Policy{pace.CatchUp, pace.Skip, pace.Shift}).Draw(t, "policy")
		s := pace.NewSchedule(r, p)
		start := time.Unix(0, 0)
		if _, due := s.Next(); !due.IsZero() {
			t.Fatalf("the first is due at %v", due)
		}
		s.Take(start)
		for n := int64(1); n < 200; n++ {
			frame, due := s.Next()
			if frame != n || due.Sub(start) != r.Deadline(n) {
				t.Fatalf("%v: frame %d is due %v after the first, want %d after %v", r, frame, due.Sub(start), n,
					r.Deadline(n))
			}
			late := time.Duration(rapid.Int64Range(0, int64(r.Deadline(n+1)-r.Deadline(n))-1).Draw(t, "late"))
			if taken, told := s.Take(due.Add(late)); taken != n || told != late {
				t.Fatalf("frame %d, %v late, was taken as %d, %v late", n, late, taken, told)
			}
		}
	})
}

func TestSkipPlaysTheFrameThatIsDue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, _ := drawn(t)
		s := pace.NewSchedule(r, pace.Skip)
		start := time.Unix(0, 0)
		s.Take(start)
		at, played := time.Duration(0), int64(1)
		for range 50 {
			_, due := s.Next()
			if at = max(at, due.Sub(start)); at > 1<<61 { // later than a Duration tells
				return
			}
			at += time.Duration(rapid.Int64Range(0, 1<<40).Draw(t, "late"))
			frame, late := s.Take(start.Add(at))
			played++
			if want := r.Frame(at); frame != want || late != at-r.Deadline(want) {
				t.Fatalf("%v: at %v frame %d is played, %v late; want %d", r, at, frame, late, want)
			}
			if s.Skipped()+played != frame+1 {
				t.Fatalf("%d played and %d skipped until frame %d", played, s.Skipped(), frame)
			}
		}
	})
}

func TestStrictNeverLetsMoreThroughThanTheRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 50).Draw(t, "n")
		span := time.Duration(rapid.Int64Range(int64(n), int64(time.Minute)).Draw(t, "span"))
		r, _ := pace.Every(int64(n), span)
		s := pace.NewSchedule(r, pace.Strict)
		now := time.Unix(0, 0)
		var taken []time.Time
		for range 300 {
			if _, due := s.Next(); due.After(now) {
				now = due
			}
			if rapid.IntRange(0, 9).Draw(t, "late") == 0 {
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(3*span)).Draw(t, "by")))
			}
			s.Take(now)
			taken = append(taken, now)
		}
		for i := n; i < len(taken); i++ {
			if d := taken[i].Sub(taken[i-n]); d < span {
				t.Fatalf("%v: %d within %v", r, n+1, d)
			}
		}
	})
}

func TestAScheduleWithoutARateLetsEverythingPass(t *testing.T) {
	var s pace.Schedule
	for i := range int64(3) {
		frame, due := s.Next()
		taken, late := s.Take(time.Unix(i, 0))
		if frame != i || taken != i || !due.IsZero() || late != 0 {
			t.Errorf("%d: frame %d due %v, taken as %d, %v late", i, frame, due, taken, late)
		}
	}
}
