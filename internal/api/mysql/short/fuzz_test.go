package short

import "testing"

// FuzzParse looks for a text that is recognized as something else than the full parser makes of it.
func FuzzParse(f *testing.F) {
	for _, c := range recognized {
		f.Add(c.query, c.mode.ANSIQuotes, c.mode.NoBackslashEscapes)
	}
	for _, c := range refused {
		if len(c.query) < 1000 { // beyond, it is a bound that is meant
			f.Add(c.query, c.mode.ANSIQuotes, c.mode.NoBackslashEscapes)
		}
	}
	f.Fuzz(func(t *testing.T, query string, ansiQuotes, noBackslashEscapes bool) {
		recognizedRightly(t, query, Mode{ANSIQuotes: ansiQuotes, NoBackslashEscapes: noBackslashEscapes})
	})
}
