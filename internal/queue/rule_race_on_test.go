//go:build race

package queue

// raceDetector tells that everything is about seven times slower.
const raceDetector = true

// manyOthers are the messages that come and go beside a stuck queue.
const manyOthers = 100_000
