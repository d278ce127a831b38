// Package program runs simple jq programs over JSON text, several times faster than jq's own machine, and with the same
// result to the byte.
//
// Most programs of pipelines put fields into an object, or take the elements of an array. Such a program is compiled
// here from the syntax tree that gojq reads: it looks into the text of a body where it stands, and writes its result as
// text, without building values between.
//
//	scope := program.NewScope(program.Variable{Name: "$attributes", Append: program.Attributes, Field: program.Attribute})
//	p := scope.Compile(`{aps: {alert: "news \(.id)"}, user: $attributes.user}`) // nil: no simple program
//	w := scope.Begin(m)                                                        // nil: a body that is left to gojq
//	defer scope.End(w)
//	text, ok := p.Text(w, w.Body())                                            // !ok: left to gojq
//
// It is a short cut, not a second jq. What is not certainly the same is left to gojq, at two moments: Compile returns
// nil for a program with anything but what is listed there, and a run gives up when a message holds something that is
// not plain: an index into what has none, broken JSON, deep nesting. A run has no effect before it has ended well, so
// that the caller runs gojq from the beginning, which finds the same result slowly, or the right error.
package program

// Bounds of what is not left to gojq. They lie below those of the callers, so that a caller's own limits keep their
// words.
const (
	maxDepth   = 64      // levels of objects and arrays in a body
	maxMade    = 200     // levels in what a program made, which it looks into
	maxMembers = 10_000  // of one object
	maxBody    = 8 << 20 // bytes
	maxBytes   = 8 << 20 // that a run writes, between stages and as results together
	maxSteps   = 1 << 22 // of a run: members looked at, and stages passed
	maxNodes   = 1000    // of a program's syntax tree
	maxNested  = 100     // objects, arrays and parentheses in a program
	maxKept    = 1 << 20 // bytes and nodes that a Work keeps for the next message
)
