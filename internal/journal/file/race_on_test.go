//go:build race

package file_test

// raceDetector tells that everything is about five times slower.
const raceDetector = true
