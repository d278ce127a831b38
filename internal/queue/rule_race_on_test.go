//go:build race

package queue

// manyOthers are the messages that come and go beside a stuck queue.
const manyOthers = 100_000
