// Package allowance bounds how often a user is told something: at most so many pushes within a time.
//
//	a := allowance.New(allowance.Config{Store: env.Store, Room: "gate", Most: 3, Within: 24 * time.Hour})
//	if err := a.Start(ctx); err != nil { … }
//	defer a.Close()
//	may, err := a.Take(ctx, pushes)
//	// … push those that may be, which are counted on the disk by now, and then:
//	a.Confirm(pushes[0]) // the far end has it: the time is counted from now on
//	a.Return(pushes[1])  // it was not pushed: it counts no more
//
// A push is known by its user and its message: one that comes again, as after a crash, is the same push and counts
// once.
//
// What is taken is durable before a push leaves. So a user never gets more after a kill. What is confirmed and returned
// is kept within a second: after a kill, a push that was refused may count for a user although nothing came.
//
// A push takes some 100 bytes of memory, and 20 on the disk, until Within has passed. Config.Remember bounds both: the
// oldest pushes are forgotten before their time when there are more, which is counted.
package allowance
