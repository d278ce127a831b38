// Package sender is what the sinks that push do alike: how a message comes in, and, where access tokens say who sends
// (fcm, hms, wns), how it goes on until the far end has answered.
//
//	type Sink struct {
//		sender.Entry // Send, Deliver, DeliverDirect, Receipts
//		…
//	}
//	type delivery struct {
//		sender.Delivery
//		…
//	}
//
//	if d.Wanted(now, wish) && d.compose() {
//		d.Enter() // sends it by Way.Post when the watches let it go and there is an access token
//	}
//
// What a message says, what is sent for it and what the answers mean is each sink's own.
package sender
