package pace_test

import (
	"context"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/pace"
)

// metronome is a player that says what it plays.
type metronome struct{ song []byte }

func newMetronome(setup []byte) (pace.Player, error) { return &metronome{setup}, nil }

func (m *metronome) Frame(n int64) error {
	fmt.Printf("frame %d: %c\n", n, m.song[n])
	return nil
}

func (m *metronome) Stop() error {
	fmt.Println("quiet")
	return nil
}

// The host is made by pace.Child, first in main, in a program that is to play precisely; here it is one of Plain, for
// what a player in another process prints is not this program's output.
func Example() {
	host := pace.Plain(pace.Players{"metronome": newMetronome})
	song := []byte("tick")
	run, err := host.Start(context.Background(), pace.Job{Player: "metronome", Setup: song, Rate: pace.NTSC(),
		Frames: int64(len(song))})
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := run.Wait()
	fmt.Println(report.Played, "played,", report.Skipped, "skipped,", err)
	// Output:
	// frame 0: t
	// frame 1: i
	// frame 2: c
	// frame 3: k
	// quiet
	// 4 played, 0 skipped, <nil>
}

// A schedule is for those who wait in their own way. Strict is a limit: what is late delays the rest.
func ExampleSchedule() {
	rate, err := pace.ParseRate("10/s")
	if err != nil {
		fmt.Println(err)
		return
	}
	s := pace.NewSchedule(rate, pace.Strict)
	now := time.Unix(0, 0)
	for range 3 {
		if _, due := s.Next(); due.After(now) {
			now = due.Add(7 * time.Millisecond) // a timer that is late
		}
		frame, late := s.Take(now)
		fmt.Println(frame, now.Sub(time.Unix(0, 0)), late)
	}
	// Output:
	// 0 0s 0s
	// 1 107ms 7ms
	// 2 214ms 7ms
}

// Deadlines are worked out from the frame's number alone: after a day it is still exact.
func ExampleRate_Deadline() {
	r := pace.NTSC()
	fmt.Println(r, r.Deadline(1), r.Deadline(60_000), r.Deadline(60_000*86))
	// Output: 60000/1001/s 16.683334ms 16m41s 23h54m46s
}
