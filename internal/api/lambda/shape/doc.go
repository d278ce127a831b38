// Package shape holds requests to the forms that a service's model gives their members: types, lengths, bounds,
// patterns and sets of values. What does not fit is said in the words of Amazon's services, all of it at once.
//
//	alias := shape.Struct(
//		shape.Must("Name", shape.String(1, 128, shape.Form(`[a-z]+`))),
//		shape.May("Weight", shape.Ratio(0, 1)),
//	)
//	var p shape.Problems
//	p.Check(alias, body)
//	err := p.Err() // a *TypeError, or *Invalid with "1 validation error detected: Value 'A' at 'name' failed to …"
//
// A Shape is made once, is never changed, and may be used by any goroutine. Members that a shape does not have are left
// alone: they may be of a newer client. Names are compared as encoding/json does it, whatever their case.
package shape
