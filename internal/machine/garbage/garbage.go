// Package garbage puts the first garbage collection off until the heap has 16 MB; a program imports it for that alone.
// The packages of this program make ten megabytes that stay before main begins. The collector begins at four, and went
// over them three times; the first of these still comes, before Go initializes this package.
package garbage

import (
	"runtime"
	"runtime/debug"
)

// usual is what GOGC is where nobody says anything else. The first collection begins when the heap has 4 MB * GOGC/100.
const usual, first = 100, 400

// _ is set early: packages are initialized in the order of their paths, as soon as what they import is initialized, and
// this one imports next to nothing.
var _ = putOff()

// putOff changes GOGC until the first collection has ended, if nobody has chosen it. A memory limit holds all the same.
func putOff() (changed bool) {
	if before := debug.SetGCPercent(first); before != usual {
		debug.SetGCPercent(before)
		return false
	}
	runtime.AddCleanup(new(string), func(percent int) { debug.SetGCPercent(percent) }, usual)
	return true
}
