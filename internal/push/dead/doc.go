// Package dead remembers which devices do not exist any more, so that nothing is sent to them again, and reports each
// of them on a feedback queue.
//
// A [Registry] belongs to one sink. What it remembers is kept as notes of the store, 14 bytes a device, and held in
// memory in a table that is as compact: a million dead devices are some 30 MB. It knows devices by a hash of what names
// them and cannot list them; the feedback queue is what tells a person, or the program that keeps the tokens. It can
// count them, by what their deaths have in common, tell of one token whether it is dead, and take deaths back: Totals,
// Find and Revive.
//
//	r := dead.New(dead.Config{Store: env.Store, Room: "phones", Platform: "apns", Feedback: feedback})
//	if err := r.Start(ctx); err != nil { … }
//	defer r.Close()
//	if since, is := r.Dead(app, "", token, registered); is { … } // do not send
//	r.Reject(dead.Death{App: app, Token: token, Since: at, Reason: "Unregistered", Message: m.ID}, reason, func(o component.Outcome) {
//		// it is durable, and so is the report
//	})
//	n, err := r.Revive(ctx, dead.Selection{App: app, Reason: "BadDeviceToken", Since: monday}, false)
//
// A device that registered again after it had died is alive: Dead compares the two times. That is why a death has the
// time that the far end names, where it names one, and a message should say when its token was registered.
//
// The pipeline hands messages out more than once after a crash, so a device may be reported twice; a report says which
// message found it.
package dead
