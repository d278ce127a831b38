// Package picture draws what a configuration joins to what: things in columns from left to right, and the ways of
// messages between them.
//
//	p := picture.Picture{Things: []picture.Thing{{Kind: "source", Name: "lines"}, {Kind: "sink", Name: "out"}},
//		Ways: []picture.Way{{From: 0, To: 1}}}
//	err := p.SVG(w, "lines.yaml") // or Text, Mermaid, Dot
//
// Whoever wants to draw it by himself, for example with figures that change, asks LayOut where everything stands.
package picture
