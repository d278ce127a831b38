// Package pattern is the language of the provider's filters of events: a pattern is a JSON object in the shape of the
// events it matches.
//
//	p, err := pattern.Parse(`{"body": {"state": ["open", {"prefix": "re"}], "price": [{"numeric": [">", 10]}]}}`)
//	if p.Match(event) { … }
//
// Fields of an object all have to match, values in an array are alternatives. A value is a string, a number, true,
// false or null, which match what is the same text, or an object with one operator: prefix, suffix, equals-ignore-case,
// anything-but, numeric, exists. "$or" has objects of which one has to match. A dot in a name separates names. An array
// in an event matches if one of its values does; the fields of an object in an array have to match in the same object.
// The rules are those of Lambda's page "Control which events Lambda sends to your function" and of Amazon EventBridge's
// event patterns, but for the operators wildcard and cidr, which Lambda does not document.
//
// It knows no function, no queue and no message.
package pattern
