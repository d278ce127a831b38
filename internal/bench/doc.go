// Package bench measures this program on the machine it runs on, beside what the machine could do at best, so that
// anybody can repeat a figure instead of believing it.
//
// It is for people and for scripts that compare versions. It is no test: no speed is right or wrong here, and nothing
// of it runs in a server. Each experiment is a folder, one entry of All and one command, hikyaku bench NAME.
//
//	err := queue.Run(ctx, harness.Options{Quick: true, Only: []string{"put", "claim"}, Out: os.Stdout})
//
// # How two things are compared
//
// A disk that makes 17,000 syncs a second now may make 800 a minute later. So the sides of a comparison never run one
// after the other: they alternate in short slices, and each slice is compared with its neighbours only. The median of
// those ratios is the figure, and its quartiles tell how far it can be trusted. Compared by rate, a ratio of 1 is the
// machine's limit and less is slower; compared by cost or by time, as some works say, more is slower.
//
// # What else can be trusted
//
// Each side checks what it did: that every message it counts was put, claimed and settled, and that no other is
// missing. A figure of work that lost something is an error, not a figure. Memory is that of a process of its own,
// which Occupy fills. What is to be cold is evicted from the system's cache, and left out, with a note, where that
// cannot be done.
//
// Some figures have a number that is asked for. It stands beside them, and whether it was met; a quick run is too small
// to tell.
package bench
