// Package filter reads the filters of Google Pub/Sub's subscriptions and turns them into conditions:
//
//	attributes:lang AND (attributes.lang = "ja" OR hasPrefix(attributes.region, "asia-"))
//
// It parses a filter whole, refuses what Google's documentation does not allow, tells where and what was expected
// instead, and writes a text of package condition that is true for the same messages. It evaluates nothing itself and
// knows no subscriptions.
//
//	f, err := filter.Parse(text)
//	if err != nil {
//		return err // a *filter.Error: the byte where it went wrong, what stands there and what was expected
//	}
//	definition.Filter = f.Condition(nil)
//
// # Language
//
//	attributes:KEY                      the message has the attribute
//	attributes.KEY = "VALUE"            it has the attribute with just this value
//	attributes.KEY != "VALUE"           it has the attribute with another value, or does not have it
//	hasPrefix(attributes.KEY, "VALUE")  it has the attribute with a value that begins so
//	NOT X, -X                           binds most tightly
//	X AND Y AND Z, X OR Y OR Z          AND beside OR needs parentheses
//
// Keys and values are compared byte by byte. A key of letters A–Z and a–z, digits, _ and - stands as it is, any other
// is a string; a value is always a string. Strings stand between double quotes, with the escapes \" \' \\ \? \a \b \f
// \n \r \t \v, \ooo and \xhh for a byte, \uhhhh and \Uhhhhhhhh for a character; the whole has to be valid UTF-8, as
// attributes are. Operators are written in capitals.
//
// # Missing attributes
//
// Conditions know three truth values, filters two: what a filter says of a missing attribute is false, so its opposite
// is true. Condition therefore carries each NOT down to the comparisons and writes there what also holds for a missing
// attribute.
package filter

// MaxBytes is how long a filter may be.
const MaxBytes = 256
