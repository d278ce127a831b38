package message

import "unicode/utf8"

// shorten cuts a value's text to what fits an error message.
func shorten(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	n := most
	for n > most-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
