package spelling

import "strings"

// bits looks at a literal of bits, b'101' or 0b101, and writes it as the bytes that it is: x'05'. In a definition it
// stays: there it is a default.
func (w *writer) bits(t token) bool {
	digits, last := "", t.end
	switch text := t.text(w); {
	case w.is(t, "b") && strings.HasPrefix(w.text[t.end:], "'"):
		rest := w.text[t.end+1:]
		length := strings.IndexByte(rest, '\'')
		if length < 0 {
			return false
		}
		digits, last = rest[:length], t.end+length+2
	case strings.HasPrefix(text, "0b") && len(text) > 2:
		digits = text[2:]
	default:
		return false
	}
	if w.defines || strings.Trim(digits, "01") != "" {
		return false
	}
	w.replace(t.at, last, " x'"+hexOf(digits)+"'")
	w.scanner.at = last
	return true
}

// hexOf are the bytes of bits, the first of which may be of fewer.
func hexOf(bits string) string {
	bits = strings.Repeat("0", (8-len(bits)%8)%8) + bits
	var out strings.Builder
	for ; bits != ""; bits = bits[4:] {
		n := 0
		for _, bit := range bits[:4] {
			n = 2*n + int(bit-'0')
		}
		out.WriteByte("0123456789abcdef"[n])
	}
	return out.String()
}
