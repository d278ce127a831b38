// Package pace does things at exact moments: frame after frame on a rational rate, each at a deadline that is worked
// out from its number alone, so that a run neither drifts nor forgets how late it was.
//
//	func main() {
//		host := pace.Child(pace.Players{"metronome": newMetronome}) // first
//		// …
//		run, err := host.Start(ctx, pace.Job{Player: "metronome", Setup: song, Rate: pace.NTSC(), Frames: 600})
//		if err != nil {
//			return err
//		}
//		report, err := run.Wait()
//		fmt.Println(report.Footing, report.Lateness.Quantile(0.99))
//	}
//
// A Player is called at each frame, and once at the end to let go of what it holds. It is made from the whole of its
// job before frame 0, so that nothing is parsed, looked up or asked for while time matters.
//
// # Two drivers
//
// The precise one is a process of its own: the program starts itself again, Child notices, plays and never returns to
// main. A goroutine of a busy program is late whatever its thread's priority, because it shares a scheduler and a
// garbage collector with the rest. In the pacing process one locked thread plays, with SCHED_FIFO where that is
// permitted; it sleeps until shortly before each deadline, by what it has learnt of how late the system wakes it, and
// looks at the clock for the rest. On Linux a second thread, bound to another processor, looks after it, and fetches it
// there when its own processor keeps it waiting; so the playing thread may move from one frame to the next, and is
// bound to one processor meanwhile. The player writes to its device from there: what had to ask the busy program at
// each frame would gain nothing. A Stop, the end of the context and the death of the asking program, by whatever
// signal, all stop the player at once. When the pacing process dies, the asking one makes a player of the same setup
// and stops it, so that no button stays pressed if it can be helped.
//
// The plain one is a goroutine with Go's timers, which are about a millisecond late. It serves where no process can be
// started, where the host is one of Plain, and in tests: it keeps testing/synctest's time.
//
// Footing says what a run stands on, and what was missing for better.
//
// # Rates
//
// A Rate is a fraction: NTSC's 60000/1001 frames a second are that. Deadlines are whole nanoseconds after frame 0,
// rounded up, and exact for 292 years. A Policy says what becomes of frames whose time is over. Schedule is the same
// for those who wait in their own way, like rate limits.
//
// # What it is not for
//
// It does not make threads of a program real-time, and knows nothing of calendars: for "each Monday at nine" take a
// scheduler.
package pace
