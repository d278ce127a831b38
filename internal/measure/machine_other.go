//go:build !linux && !darwin

package measure

// hardware finds nothing: there is no portable way to ask.
func hardware() (cpu string, memory int64, kernel string) { return "", 0, "" }
