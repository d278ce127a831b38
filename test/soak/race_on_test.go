//go:build race

package soak

// raceDetector tells that everything is about ten times slower.
const raceDetector = true
