//go:build !linux && !windows

package pace

// prioritize does nothing here.
func prioritize(f *Footing) {
	f.Priority = "normal"
	f.Lacking = append(f.Lacking, "a real-time priority: not known on this system")
}

// promote is for systems where a runtime's other threads may hold up the one that plays for long.
func promote(map[int]bool) {}
