package pace

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// tardy is a sleeper that wakes late, in a synctest bubble's time.
type tardy struct {
	*timer
	late  []time.Duration // of each sleep in turn
	slept int
}

func (s *tardy) sleep(t int64) {
	s.until(t + int64(s.late[s.slept%len(s.late)]))
	s.slept++
}

func (s *tardy) calm() {
	select {
	case <-s.nudged:
	default:
	}
}

func (*tardy) keepPlace() {}

func newTardy(late ...time.Duration) (*tardy, *spinner) {
	t := &tardy{timer: newTimer(), late: late}
	return t, newSpinner(t, t.now, NTSC())
}

func TestTheSpinLearnsHowLateTheSystemWakesIt(t *testing.T) {
	const us = time.Microsecond
	synctest.Test(t, func(t *testing.T) {
		_, s := newTardy(100 * us)
		if err := s.calibrate(); err != nil {
			t.Fatal(err)
		}
		if got := time.Duration(s.spin()); got != 115*us {
			t.Errorf("woken 100µs late, it spins for %v", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		_, s := newTardy(0)
		_ = s.calibrate()
		if got := s.spin(); got != leastSpin {
			t.Errorf("woken in time, it spins for %v", time.Duration(got))
		}
		s.learn(int64(700 * us))
		if got := time.Duration(s.spin()); got != 35*us {
			t.Errorf("woken 700 µs late once, it spins for %v", got)
		}
		for range 100 {
			s.learn(int64(700 * us))
		}
		if got := time.Duration(s.spin()); got != NTSC().Interval()/spinShare {
			t.Errorf("woken 700 µs late each time, it spins for %v", got)
		}
		for range 10_000 {
			s.learn(int64(20 * us))
		}
		before := s.spin()
		for range 100 {
			s.learn(int64(5 * time.Millisecond))
		}
		if got := s.spin(); got != before {
			t.Errorf("woken too late for any spin, it spins for %v instead of %v", time.Duration(got),
				time.Duration(before))
		}
		for i := range 100_000 {
			late := 10 * us
			if i%100 == 0 {
				late = 200 * us
			}
			s.learn(int64(late))
		}
		if got := time.Duration(s.spin()); got < 195*us || got > 215*us {
			t.Errorf("woken 200 µs late each hundredth time, it spins for %v", got)
		}
		for i := range 100_000 {
			late := 10 * us
			if i%1000 == 0 {
				late = 500 * us
			}
			s.learn(int64(late))
		}
		if got := time.Duration(s.spin()); got > 50*us {
			t.Errorf("woken 500 µs late each thousandth time, it spins for %v", got)
		}
	})
}

func TestItIsKnownHowMuchOfALatenessIsTheSystems(t *testing.T) {
	const ms = time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		_, s := newTardy(3 * ms)
		s.until(int64(10 * ms))
		if over, again := time.Duration(s.overslept()), s.overslept(); over < 2*ms || over > 3*ms || again != 0 {
			t.Errorf("of 3 ms it was asleep for %v, and once more for %v", over, time.Duration(again))
		}
		if s.until(int64(ms)); s.overslept() != 0 {
			t.Error("it slept, though the moment was over")
		}
	})
	d := newDrive(Job{Rate: NTSC(), Frames: 3}, &lazy{}, &sleepyhead{timer: newTimer(), over: int64(time.Hour)})
	report, err := d.play()
	if err != nil || len(report.Records) != 3 {
		t.Fatal(report.Records, err)
	}
	for _, r := range report.Records {
		if r.Overslept != r.Late {
			t.Errorf("frame %d was %v late, and the system's part of it %v", r.Frame, r.Late, r.Overslept)
		}
	}
}

// sleepyhead says that it was woken far too late.
type sleepyhead struct {
	*timer
	over int64
}

func (s *sleepyhead) overslept() int64 { return s.over }

// lazy is a player that does nothing.
type lazy struct{}

func (lazy) Frame(int64) error { return nil }
func (lazy) Stop() error       { return nil }

func TestANudgeEndsAWaitOnceAndOnlyOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := newTardy(50 * time.Microsecond)
		s.nudge()
		s.until(int64(time.Hour)) // nudged before
		go func() {
			time.Sleep(time.Minute)
			s.nudge()
		}()
		s.until(int64(time.Hour)) // and while it sleeps
		if now := time.Duration(s.now()); now != time.Minute {
			t.Errorf("a nudge after a minute ended a wait at %v", now)
		}
		// A wake-up for no reason ends no wait. Beyond the end of its sleep no time passes in a bubble, so that it is
		// the sleep that lasts.
		s.sleeper.nudge()
		go func() {
			time.Sleep(time.Minute)
			s.nudge()
		}()
		s.until(int64(time.Hour))
		if now := time.Duration(s.now()); now != 2*time.Minute {
			t.Errorf("it woke for nothing, and ended a wait at %v", now)
		}
	})
}

// FuzzMessages reads what an asking or a pacing process might be told by a program that is neither.
func FuzzMessages(f *testing.F) {
	message := func(kind byte, v any) []byte {
		var b bytes.Buffer
		_ = writeJSON(&b, kind, v)
		return b.Bytes()
	}
	f.Add(message(kindHead, headOf(&Job{Player: "x", Rate: NTSC(), Frames: 9, Start: time.Unix(1, 0)})))
	f.Add(message(kindEnd, endedOf(Report{Records: []Record{{1, 2, 3, 1}}}, &PlayerError{"play", 7, ErrJob})))
	f.Add([]byte("h\xff\xff\xff\xff{}"))
	f.Add([]byte("Usage: program [flags]"))
	f.Fuzz(func(t *testing.T, b []byte) {
		kind, body, err := readMessage(bytes.NewReader(b), 1<<16)
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := writeMessage(&again, kind, body); err != nil || !bytes.HasPrefix(b, again.Bytes()) {
			t.Fatalf("%q was read as %q %q", b, kind, body)
		}
		var h head
		if json.Unmarshal(body, &h) == nil {
			if j, err := h.job(nil); err == nil {
				back := headOf(&j)
				if again, err := back.job(nil); err != nil || again.Rate != j.Rate || !again.Start.Equal(j.Start) {
					t.Fatalf("%+v became %+v", j, again)
				}
			}
		}
		var e ended
		if json.Unmarshal(body, &e) == nil {
			r, wrong := e.outcome()
			if len(r.Records) != len(e.Records) || (wrong == nil) != (e.Failing == nil) {
				t.Fatalf("%+v became %+v, %v", e, r, wrong)
			}
		}
	})
}

func TestServeRefusesWhatMakesNoSense(t *testing.T) {
	for name, told := range map[string]func(b *bytes.Buffer){
		"nothing":        func(*bytes.Buffer) {},
		"text":           func(b *bytes.Buffer) { b.WriteString("hello, is anybody there?") },
		"no setup":       func(b *bytes.Buffer) { _ = writeJSON(b, kindHead, headOf(&Job{Player: "x", Rate: NTSC()})) },
		"another player": func(b *bytes.Buffer) { head2(b, Job{Player: "y", Rate: NTSC()}) },
		"no rate":        func(b *bytes.Buffer) { head2(b, Job{Player: "x"}) },
	} {
		var in, out bytes.Buffer
		told(&in)
		players := Players{"x": func([]byte) (Player, error) { t.Fatal(name, "made a player"); return nil, nil }}
		if status := serve(players, &in, &out, nil); status != exitBroken {
			t.Errorf("%s: status %d", name, status)
		}
	}
}

func head2(b *bytes.Buffer, j Job) {
	_ = writeJSON(b, kindHead, headOf(&j))
	_ = writeMessage(b, kindSetup, []byte("{}"))
}

func TestTheFootingIsALineForPeople(t *testing.T) {
	for want, f := range map[string]Footing{
		"step 1 of 3: own process, SCHED_FIFO 49, memory locked, futex and a spin of 60µs": {Own: true,
			Priority: "SCHED_FIFO 49", Locked: true, Wait: "futex", Spin: 60 * time.Microsecond},
		"step 1 of 3: own process, time-critical, high-resolution timer": {Own: true,
			Priority: "time-critical", Wait: "high-resolution timer"},
		"step 2 of 3: own process, normal, futex (SCHED_FIFO: not permitted; ask)": {Own: true,
			Priority: "normal", Wait: "futex", Lacking: []string{"SCHED_FIFO: not permitted", "ask"}},
		"step 3 of 3: no process of its own, timer": {Wait: "timer"},
	} {
		if got := f.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestDriftIsWhatTheLastFramesAreLaterThanTheFirst(t *testing.T) {
	var r Report
	for n := range int64(100) {
		r.Records = append(r.Records, Record{Frame: n, Late: time.Duration(n) * NTSC().Interval() / 100})
	}
	if got := r.Drift(NTSC()); got < 0.77 || got > 0.83 {
		t.Errorf("80 hundredths of a frame are %v", got)
	}
	if (&Report{}).Drift(NTSC()) != 0 || r.Drift(Rate{}) != 0 {
		t.Error("a drift of nothing")
	}
	if h := (&Histogram{}); !strings.Contains(h.String(), "0: p50 0s") {
		t.Error(h.String())
	}
}
