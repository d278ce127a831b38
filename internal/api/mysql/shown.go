package mysql

import (
	"strings"
	"unicode/utf8"
)

const (
	maxMessage = 512 // bytes of an error's text, as in MySQL: some clients read no more
	maxShown   = 128 // bytes of a value in it, as in MySQL
	maxTail    = 40  // of these from its end, where the column's name stands
)

// tooLarge finds the column in go-mysql-server's text for a value that does not fit, which has the whole value in it.
// MySQL's has none.
func tooLarge(text string) (column string, ok bool) {
	rest, ok := strings.CutPrefix(text, "string '")
	i := strings.LastIndex(rest, "' is too large for column '")
	if !ok || i < 0 {
		return "", false
	}
	return strings.CutSuffix(rest[i+len("' is too large for column '"):], "'")
}

// shown is an error's text as a client gets it. Values in it are payloads, perhaps of megabytes and perhaps secret: it
// holds what tells which one is meant, and no more. Where only names and quoted values are in a text (own) the rest of
// it stays; otherwise values may stand anywhere.
func shown(text string, own bool) string {
	if column, ok := tooLarge(text); ok {
		return "Data too long for column '" + head(column, maxShown) + "'"
	}
	if len(text) <= maxShown {
		return text
	}
	text = shortQuotes(text)
	if own && len(text) <= maxMessage || len(text) <= maxShown {
		return text
	}
	return head(text, maxShown-maxTail) + ellipsis + tail(text, maxTail)
}

const ellipsis = "…"

// shortQuotes shortens what stands in quotes. A quote ends where no word goes on behind it.
func shortQuotes(text string) string {
	var b strings.Builder
	for {
		open := strings.IndexAny(text, "'\"`")
		if open < 0 {
			b.WriteString(text)
			return b.String()
		}
		n := quoted(text[open+1:], text[open])
		if n < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:open+1])
		if inner := text[open+1 : open+1+n]; len(inner) > maxShown {
			b.WriteString(head(inner, maxShown) + ellipsis)
		} else {
			b.WriteString(inner)
		}
		b.WriteByte(text[open])
		text = text[open+1+n+1:]
	}
}

// quoted is how long what is quoted is, -1 when it does not end.
func quoted(text string, quote byte) int {
	for i := 0; i < len(text); i++ {
		if text[i] == quote && (i+1 == len(text) || strings.IndexByte(" ,;:.()@", text[i+1]) >= 0) {
			return i
		}
	}
	return -1
}

// head and tail are at most n bytes of a text, in whole letters.
func head(text string, n int) string {
	if len(text) <= n {
		return strings.ToValidUTF8(text, "?")
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return strings.ToValidUTF8(text[:n], "?")
}

func tail(text string, n int) string {
	at := max(len(text)-n, 0)
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return strings.ToValidUTF8(text[at:], "?")
}
