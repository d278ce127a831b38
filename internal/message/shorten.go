package message

import "unicode/utf8"

// Shorten cuts a text to what fits an error message: most bytes and whole characters, with … behind them where there
// was more.
func Shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return Beginning(s, most) + "…"
}

// Beginning cuts a text to at most so many bytes of whole characters, with nothing behind them.
func Beginning(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n := most
	for n > 0 && n > most-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// shorten cuts a value's text.
func shorten(s string) string { return Shorten(s, 40) }
