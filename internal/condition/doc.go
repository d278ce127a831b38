// Package condition is the language in which a reader names the messages it wants:
//
//	enqueued_at >= 1501686146 and lang = 'ja'
//
// It parses a text, checks its names against a queue's columns, evaluates it over Values and tells which part of it an
// index can serve. It knows nothing of queues: whoever evaluates supplies the values of names, and whoever keeps
// indexes follows the Plan.
//
//	e, err := condition.Parse("enqueued_at >= 1501686146 and lang = 'ja'")
//	if err != nil {
//		return err // a *condition.Error: what is wrong, where, and often what to write instead
//	}
//	bound := e.Bind(columns.Lookup) // names become slots once, evaluation then allocates nothing
//	if bound.Match(row) {
//		…
//	}
//
// # Language
//
// The operators are MySQL's with MySQL's precedence, from the tightest: ! ; unary - + ~ ; ^ ; * / div % mod ; + - ;
// << >> ; & ; | ; comparisons = == <=> != <> < <= > >= is like in ; between ; not ; and && ; xor ; or ||.
// Literals are integers (decimal, 0x hexadecimal, octal with a leading 0), exact decimals (1.5), floats (1e3),
// strings in single or double quotes, bytes (x'00ff'), true, false, null, date '2026-01-02' and
// timestamp '2026-01-02 03:04:05.123' (UTC, or RFC 3339 with an offset). Names are bare (letters, digits, _ $ and inner
// dots) or stand between backquotes. Functions: abs, ceil, char_length, floor, length, lower, mod, pow, upper.
//
// # Values
//
// Logic has three values: a comparison with null is null, and a condition matches only when it is true. A name that has
// no value is null. Strings and bytes compare byte by byte. Compared with a number, a string is read as one; compared
// with a time, it is read as a time; what cannot be read so compares as null. A time compared with a number counts as
// seconds since 1970. Booleans count as 0 and 1. Numbers compare by their exact value, whatever their kinds; a float
// that is no whole number stands for the shortest decimal that names it, so the float 0.1 equals the decimal 0.1.
//
// Arithmetic on integers is exact within -2⁶³ … 2⁶⁴-1 and null beyond; with a decimal it is exact to 65 digits, 30 of
// them after the point; with a float it is floating point. Division by zero is null. Bit operators work on 64 bits,
// unsigned, as in MySQL. like is case-sensitive and sees a value in its text form.
package condition

// The limits of a condition. They keep parsing, evaluation and planning bounded whatever text a client sends.
const (
	MaxText  = 64 << 10 // bytes of text
	MaxDepth = 200      // levels of operators in one another
	MaxList  = 10_000   // members of one in (…)
	MaxWild  = 1000     // characters of a like pattern between two %, when there is a _ among them
)
