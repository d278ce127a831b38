// Package bench measures this program on the machine it runs on, beside what the machine could do at best, so that anybody can
// repeat a figure instead of believing it.
//
// It is for people and for scripts that compare versions. It is no test: no speed is right or wrong here, and nothing of it runs in
// a server. Each experiment is one entry of All and one command, hikyaku bench NAME.
//
//	err := bench.Queue(ctx, bench.Options{Quick: true, Out: os.Stdout})
//
// # How two things are compared
//
// A disk that makes 17,000 syncs a second now may make 800 a minute later. So the two sides of a comparison never run one after the
// other: they alternate in short slices, and each slice is compared with its neighbour only. The median of those ratios is the
// figure, and its quartiles tell how far it can be trusted. A ratio of 1 is the machine's limit.
package bench
