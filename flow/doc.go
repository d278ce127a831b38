// Package flow runs streams of items through stages that work on several items at once, with bounds, cancellation and
// errors that nobody has to think of. It is for work that waits: for each user, fetch what to send.
//
// # Streams
//
// A Stream is a function that is given a context and returns a sequence to range over, of items or errors. Source
// writes one, Of and From make one of what is there:
//
//	students := flow.Source(func(ctx context.Context, emit func(Student) bool) error {
//		rows, err := db.QueryContext(ctx, "SELECT id, name FROM students")
//		…
//		for rows.Next() && rows.Scan(&s.ID, &s.Name) == nil && emit(s) {
//		}
//		return rows.Err()
//	})
//
// Nothing happens until somebody reads. A loop, Collect, CollectMap or ForEach does:
//
//	for student, err := range students(ctx) {
//
// When the loop is left, whatever way, everything that it has started has ended.
//
// # Stages
//
// A stage takes a stream and is one. Map calls a function for each item:
//
//	reports := flow.Map(students, func(ctx context.Context, s Student) (Report, error) {
//		scores, err := flow.Collect(ctx, scoresOf(s))
//		return Report{s, scores}, err
//	}, flow.Options{Concurrency: 16, Ordered: true})
//
// FlatMap makes a stream of each item and merges them. FlatMapByKey bounds them also per key. Merge, Zip, Tee, Batch,
// Buffer, Take, Throttle and Interval do what their names say, and Log tells what is going on.
//
// With Concurrency 1, the default, an item is worked on when its reader wants it, in the reader's goroutine. With more,
// items are read ahead, no more than Concurrency × Prefetch. Each goroutine takes the next item when it is free; items
// are not dealt out in advance, so a slow one holds up no other. Nothing is ever held back to make a chunk, and no
// clock is involved: a lone item passes through at once.
//
// # Errors
//
// The first error of a source or a function, or its panic with the stack (PanicError), cancels what is going on and is
// the last thing that is yielded. With Options.Ordered that is so in the order of the items: those before the one that
// failed are yielded first. With Options.KeepGoing each error is yielded in its item's place, and the loop decides:
//
//	for report, err := range reports(ctx) {
//		if err != nil {
//			log.Print(err)
//			continue
//		}
//
// Options.Timeout and Options.Retry are for one item at a time. When ctx ends, the last thing that is yielded is its
// cause.
//
// # Schedulers
//
// A stage has goroutines of its own unless Options.Scheduler names one that several stages, or the whole program,
// share: Parallel for work that computes, Elastic for work that blocks, Single for work that must not run at the same
// time. On runs a stream on one. Who waits for something of this package gives the worker back, so that stages may be
// nested on the same scheduler without deadlock; see Scheduler.
//
// # N+1
//
// A list, and then a look-up for each of its items: that is N+1 queries. Concurrency makes them overlap. A Loader makes
// them few: those who ask while a fetch runs travel together in the next one.
//
//	loader := flow.NewLoader(flow.LoaderConfig[int, []Score]{
//		Fetch: func(ctx context.Context, ids []int) (map[int][]Score, error) {
//			return queryScores(ctx, "SELECT … WHERE student_id = ANY($1)", ids)
//		},
//	})
//	defer loader.Close()
//	reports := flow.Map(students, func(ctx context.Context, s Student) (Report, error) {
//		scores, err := loader.Load(ctx, s.ID)
//		return Report{s, scores}, err
//	}, flow.Options{Concurrency: 500})
//
// Load is for callers that ask for one key each, whoever they are. For a stream Lookup does the same without 500
// goroutines.
//
// # What it is not for
//
// Streams keep nothing over a restart and acknowledge nothing: what was read from a source and not yet worked on is
// lost with the process. Functions that ignore their context cannot be stopped, only waited for.
package flow
