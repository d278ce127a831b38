//go:build !race

package queue

// manyOthers are the messages that come and go beside a stuck queue.
const manyOthers = 1_000_000
