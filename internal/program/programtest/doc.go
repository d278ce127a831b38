// Package programtest makes up jq programs, bodies and messages, for tests that compare short cuts with jq's own
// machine:
//
//	g := programtest.New(4711)
//	text, m := g.Program(), g.Message()
//
// Most programs are simple and most bodies good, so that a comparison sees results; the rest is wrong in every way that
// has made a difference between readers of JSON: names twice, halves of surrogate pairs, bytes that are no UTF-8, deep
// nesting, numbers beyond any type.
package programtest
