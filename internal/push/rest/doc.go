// Package rest knows who is to be left alone for a while, because a far end asked for it: single devices, and
// everything behind a key or a project.
//
// The far end's word goes before our own back-off, and what one device asks for never holds up another:
//
//	if left := devices.Left(app, token, now); left > 0 { … } // not yet: a Retry outcome after left
//	rest := devices.Strain(app, token, now, asked)           // it was answered 429
//	devices.Calm(app, token)                                 // it took a message
//
// Far ends do not always say whether a 429 or 503 is about the device or about all we send. A Pause finds out: one of
// them is the device's, several in a short time are everybody's, and then it begins: Pause.Strike.
//
// An Outage tells such an answer to one message from a far end that takes nothing.
//
// The zero values are ready, bounded, and may be used from any goroutine.
package rest
