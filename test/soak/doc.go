// Package soak holds the fault model of the store: a program that does random things to a real queue.Store, over the
// real file journal, over a disk that loses power, runs full, fails and flips bits, and compares after every step with
// a reference that is simple enough to be believed. It has no code of its own and nothing imports it.
//
// # A run
//
// A run is a number, its seed. The seed chooses the queues, the operations, the faults and the moments at which they
// strike, and the order in which goroutines change the disk. Time is a synctest bubble's and takes none. So a seed that
// has found something finds it again:
//
//	go test ./test/soak -run TestSeeds -seed 4711
//
// prints what the run did, step by step. What Go draws by itself (the order of a map, of a select) is not the seed's: a
// run may differ where the store leaves something to that, and TestASeedRepeatsItsRun says that it does not as a rule.
//
// # What has to hold
//
// The journal is a sequence of groups. A kill keeps what was written, a power cut a beginning that has everything
// acknowledged in it. So the reference keeps the states that lie between the last acknowledged group and now: after a
// kill the store has to be found in the last of them (or, if an operation had no answer yet, in the one behind it),
// after a power cut in any one, whole. That one rule says that what was acknowledged survives, that groups are atomic,
// that attempts are exact after a kill and at most low after a power cut, that leases, deduplication and notes survive,
// and that what was settled does not come back.
//
// What is settled stays with the reference where the queue has a history or a snapshot holds it, with the time of its
// put. Nothing goes from there because time goes by: at each look and each seek the reference asks what is still kept
// at that time. So it needs no order of what the store forgets by itself and what it is asked to do, and a start that
// finds an earlier time is no special case.
//
// # Concurrency
//
// The runs have one client. Many clients at once are the business of histories: what each asked and was answered, with
// the power failing in between, is given to a linearizability checker (history_test.go, linear_test.go).
//
// # That it can fail
//
// mutant_test.go breaks the journal in the ways that matter (forgets a settle or a seek, acknowledges too early, swaps
// two groups, loses half of a group or a snapshot) and expects the model to notice each.
//
// # For long
//
// make soak runs fresh seeds on all processors, for SOAKTIME.
package soak
