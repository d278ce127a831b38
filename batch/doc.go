// Package batch groups items, so that work with a fixed price a call (a sync, a request, an INSERT) is paid once for
// many.
//
// There are two policies, and which one is in force depends only on Config.Delay:
//
//   - Readiness (Delay 0): a group leaves as soon as a handler is free. A lone item never waits; while every handler is
//     busy the next group gathers, and it is as large as the load makes it. No clock is involved.
//   - Thresholds (Delay > 0): a group leaves when it is full by count or by bytes, or when its oldest item has waited
//     for Delay, as publishers and log shippers know it.
//
// Readiness is the better default wherever the handler itself takes time: batches are small when there is little to do
// and large when there is much, and nobody has to guess a delay.
//
//	g := batch.New(batch.Config[Row]{
//		MaxCount: 500,
//		Handle: func(ctx context.Context, rows []Row) []error {
//			return insert(ctx, rows) // nil: all of them succeeded
//		},
//	})
//	defer g.Close()
//	err := g.Do(ctx, row) // returns when the row's group was handled, with the row's own error
//
// # Adding
//
// Add blocks while too much waits, which is the flow control, and returns a Result for the item. Do adds and waits.
// TryAdd returns ErrFull instead of blocking. Post and PostWait do the same without a Result, for callers whose items
// carry their own way of answering. PostTurn lets a caller who would only wait do a free handler's work himself.
//
// # Order
//
// Items enter groups in the order in which they were admitted, also those whose Add had to wait: nobody overtakes a
// waiting Add. With one handler the groups are handled in that order too, one at a time. With several, groups begin in
// order and run side by side.
//
// # What it is not for
//
// A grouper retries nothing and keeps nothing over a restart, and it does not sort items into groups by a key: use
// one grouper a key, or let the handler do it.
package batch
