package play

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
	"github.com/hikyaku/hikyaku/pace"
)

// deaf is a device that cannot be asked. Its writes take a while.
type deaf struct {
	written int
	said    strings.Builder
	fails   error
}

const (
	writeTime = 50 * time.Microsecond
	askTime   = 200 * time.Microsecond
)

func (d *deaf) Write(_ int, frame int64, s *macro.State) error {
	time.Sleep(writeTime)
	d.written++
	if frame == device.Release {
		fmt.Fprintf(&d.said, "release:%s ", s)
	}
	return d.fails
}

func (d *deaf) Close() error {
	d.said.WriteString("close")
	return nil
}

// talker is a device that tells what was written to it after a delay.
type talker struct {
	deaf
	delay func(n int) time.Duration          // of the n-th write; below 0: it forgets to tell
	tell  func(s *macro.State, n int) []byte // the n-th write's answer
	asked bool                               // it tells only when asked, and then what it last had

	coming []answer
	now    []byte
	gone   int // write after which it is not there any more; 0: never
}

type answer struct {
	at   time.Time
	told []byte
}

func (d *talker) Write(player int, frame int64, s *macro.State) error {
	if delay := d.delay(d.written); delay >= 0 {
		d.coming = append(d.coming, answer{time.Now().Add(delay), d.tell(s, d.written)})
	}
	return d.deaf.Write(player, frame, s)
}

func (d *talker) Read(_ int, b []byte, wait time.Duration) (int, error) {
	if d.gone > 0 && d.written >= d.gone {
		return 0, device.ErrGone
	}
	if d.asked {
		time.Sleep(askTime)
		for len(d.coming) > 0 && !d.coming[0].at.After(time.Now()) {
			d.now, d.coming = d.coming[0].told, d.coming[1:]
		}
		return copy(b, d.now), nil
	}
	if len(d.coming) == 0 || time.Until(d.coming[0].at) > wait {
		time.Sleep(wait)
		return 0, nil
	}
	time.Sleep(time.Until(d.coming[0].at))
	n := copy(b, d.coming[0].told)
	d.coming = d.coming[1:]
	return n, nil
}

func always(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

// plainly is the state at the beginning of the answer, and a count behind it.
func plainly(s *macro.State, n int) []byte {
	var b []byte
	for _, v := range s {
		b = append(b, byte(v))
	}
	return append(b, byte(n))
}

// calibrated runs a calibration with Go's timers, which keep the bubble's time.
func calibrated(t *testing.T, d device.Device, rounds int64) (Calibration, pace.Report, error) {
	t.Helper()
	rate := pace.NTSC()
	host := pace.Plain(pace.Players{"x": func([]byte) (pace.Player,
		error) {
		return calibrate(d, 1, int(rounds), rate.Interval()/2), nil
	}})
	run, err := host.Start(t.Context(), pace.Job{Player: "x", Rate: rate, Frames: 2 * rounds, Policy: pace.Shift,
		Keep: -1})
	if err != nil {
		t.Fatal(err)
	}
	report, err := run.Wait()
	var c Calibration
	if bad := json.Unmarshal(report.Result, &c); bad != nil {
		t.Fatal(bad)
	}
	return c, report, err
}

// about tells whether a figure is a duration, but for the steps in which a device is asked.
func about(got, want time.Duration) bool {
	return got >= want && got <= want+askTime
}

func TestADevicesOwnDelayIsMeasuredFromTheWriteToTheAnswer(t *testing.T) {
	for name, d := range map[string]*talker{
		"tells by itself":    {delay: always(7 * time.Millisecond), tell: plainly},
		"tells when asked":   {delay: always(7 * time.Millisecond), tell: plainly, asked: true},
		"slower than frames": {delay: always(40 * time.Millisecond), tell: plainly},
		"at once":            {delay: always(writeTime), tell: plainly},
		"elsewhere in its answers": {delay: always(7 * time.Millisecond),
			tell: func(s *macro.State, n int) []byte { return append([]byte{1, byte(n), 0, 0}, plainly(s, n)...) }},
		"in another form": {delay: always(7 * time.Millisecond),
			tell: func(s *macro.State, n int) []byte { return []byte{byte(n), 7 &^ (byte(s[macro.Square]) >> 6)} }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _, err := calibrated(t, d, 20)
				if err != nil || c.Reading != Answering || c.Lost != 0 || len(c.Writes) != 40 || len(c.Answers) != 40 {
					t.Fatalf("%+v, %v", c, err)
				}
				want := d.delay(0)
				if !about(c.Lead(), want) || !about(c.Answers.Quantile(0.99), want) ||
					!about(c.Writes.Quantile(0.5), writeTime) {
					t.Errorf("lead %s, answers %s; writes: %s", c.Lead(), c.Answers, c.Writes)
				}
				if !strings.HasSuffix(d.said.String(), "release:5 close") {
					t.Errorf("at the end: %s", d.said.String())
				}
			})
		})
	}
}

func TestJitterIsHowMuchAnswersDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &talker{tell: plainly,
			delay: func(n int) time.Duration { return 6*time.Millisecond + time.Duration(n%3)*time.Millisecond }}
		c, _, err := calibrated(t, d, 60)
		if err != nil || !about(c.Lead(), 7*time.Millisecond) || c.Jitter() != 2*time.Millisecond {
			t.Errorf("lead %s, jitter %s, %v", c.Lead(), c.Jitter(), err)
		}
	})
}

// TestAnswersThatTellOfTheStateBeforeAreNotTakenForTheState: a device may tell both.
func TestAnswersThatTellOfTheStateBeforeAreNotTakenForTheState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var before byte
		d := &talker{delay: always(5 * time.Millisecond), tell: func(s *macro.State, _ int) []byte {
			told := []byte{before, byte(s[macro.Square])}
			before = told[1]
			return told
		}}
		c, _, err := calibrated(t, d, 10)
		if err != nil || len(c.Answers) != 20 || !about(c.Lead(), 5*time.Millisecond) {
			t.Errorf("%+v, %v", c, err)
		}
	})
}

func TestADeviceThatCannotBeAskedHasItsWritesMeasured(t *testing.T) {
	for name, c := range map[string]struct {
		device  device.Device
		reading Reading
	}{
		"no reading":   {new(deaf), NoReading},
		"says nothing": {&talker{delay: always(-1), tell: plainly}, Silent},
		"says the same": {&talker{delay: always(0), tell: func(*macro.State, int) []byte { return []byte{1, 2, 3} }},
			Silent},
		"says who knows": {&talker{delay: always(0),
			tell: func(_ *macro.State, n int) []byte { return []byte{byte(n), byte(n >> 1)} }, asked: true}, Silent},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, report, err := calibrated(t, c.device, 15)
				if err != nil || got.Reading != c.reading || len(got.Writes) != 30 || len(got.Answers) != 0 ||
					got.Lost != 0 || got.Lead() != 0 {
					t.Errorf("%+v, %v", got, err)
				}
				if report.Elapsed > 10*time.Second {
					t.Errorf("it took %s", report.Elapsed)
				}
			})
		})
	}
}

func TestAnswersThatDoNotComeAreCountedAndThenNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &talker{tell: plainly, delay: func(n int) time.Duration {
			if n > 20 && n%4 == 0 || n > 100 {
				return -1
			}
			return time.Millisecond
		}}
		c, report, err := calibrated(t, d, 300)
		if err != nil || c.Reading != Answering || c.Lost < mostLost || c.Lost > 60 || len(c.Writes) != 600 ||
			!about(c.Lead(), time.Millisecond) {
			t.Errorf("lost %d of %d, lead %s, %v", c.Lost, len(c.Writes), c.Lead(), err)
		}
		if report.Elapsed > 30*time.Second {
			t.Errorf("it took %s", report.Elapsed)
		}
	})
}

// TestALessonWhoseAnswerComesTooLateIsRepeated: on a machine that is busy one may.
func TestALessonWhoseAnswerComesTooLateIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, late := range []int{0, 1, 5} {
			d := &talker{tell: plainly, delay: func(n int) time.Duration {
				if n == late {
					return Patience + 100*time.Millisecond
				}
				return 3 * time.Millisecond
			}}
			if c, _, err := calibrated(t, d, 10); err != nil || c.Reading != Answering || len(c.Answers) != 20 ||
				!about(c.Lead(), 3*time.Millisecond) {
				t.Errorf("the answer %d was late: %+v, %v", late, c, err)
			}
		}
	})
}

func TestADeviceThatGoesAwayEndsItsCalibration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, gone := range []int{1, 20} {
			d := &talker{delay: always(time.Millisecond), tell: plainly, gone: gone}
			if _, report, err := calibrated(t, d, 30); !errors.Is(err, device.ErrGone) || !report.Stopped {
				t.Errorf("%v, %v", report.Stopped, err)
			}
			if !strings.HasSuffix(d.said.String(), "release:5 close") {
				t.Errorf("at the end: %s", d.said.String())
			}
		}
		d := &deaf{fails: device.ErrGone}
		if _, _, err := calibrated(t, d, 3); !errors.Is(err, device.ErrGone) {
			t.Error(err)
		}
	})
}

// TestWritesAreSpreadOverAFrame: a device that looks every so often is met at every point of its interval.
func TestWritesAreSpreadOverAFrame(t *testing.T) {
	const spread, parts = 8 * time.Millisecond, 16
	var met [parts]int
	for n := range int64(100 * parts) {
		d := spreadOut(n, spread)
		if d < 0 || d >= spread {
			t.Fatalf("%d: %s", n, d)
		}
		met[d*parts/spread]++
	}
	for i, n := range met {
		if n < 95 || n > 105 {
			t.Errorf("part %d is met %d times of %d", i, n, 100*parts)
		}
	}
}

func TestQuantilesAreOfTheTimesThemselves(t *testing.T) {
	all := sorted([]time.Duration{5, 1, 4, 2, 3})
	for share, want := range map[float64]time.Duration{0: 1, 0.2: 1, 0.21: 2, 0.5: 3, 0.99: 5, 1: 5, 7: 5, -1: 1} {
		if got := all.Quantile(share); got != want {
			t.Errorf("%v: %d, not %d", share, got, want)
		}
	}
	if got := Times(nil).Quantile(0.5); got != 0 {
		t.Error(got)
	}
}

func TestACalibrationsSetupThatIsNoneIsRefused(t *testing.T) {
	for _, setup := range []string{"", "[]", "{}", `{"seat":{"driver":"trace","target":"-","players":[3]}}`,
		`{"seat":{"driver":"none","players":[1]}}`, `{"seat":{"driver":"trace","target":"-","players":[1,2]}}`,
		`{"seat":{"driver":"trace","target":"-","players":[1]},"rounds":100001}`} {
		if p, err := newCalibrator([]byte(setup)); err == nil {
			t.Errorf("%q became %v", setup, p)
		}
	}
}

func FuzzSignsOf(f *testing.F) {
	f.Add([]byte{100, 1}, []byte{0, 1}, []byte{100, 2}, []byte{0, 3})
	f.Add([]byte{}, []byte{0}, []byte{1}, []byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, press1, release1, press2, release2 []byte) {
		e := eye{signs: signsOf([][]byte{press1, press2}, [][]byte{release1, release2})}
		if len(e.signs) == 0 {
			return
		}
		for _, told := range [][]byte{press1, press2} {
			if !e.sees(told, true) || e.sees(told, false) {
				t.Fatalf("%v does not tell that %v is pressed", e.signs, told)
			}
		}
		for _, told := range [][]byte{release1, release2} {
			if e.sees(told, true) || !e.sees(told, false) {
				t.Fatalf("%v does not tell that %v is let go", e.signs, told)
			}
		}
	})
}
