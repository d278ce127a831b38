// Package house holds the tests that keep the house in order. It has no code of its own and nothing imports it.
//
// The house has floors. A room (a package with those below it, such as internal/queue) stands on one floor and imports
// only rooms of lower floors: never one above it, never a neighbour. So each room can be read, tested and replaced with
// nothing in mind but what lies beneath it. The map of the floors is the variable floors in floors_test.go, and every
// package must be on it.
//
// The tests read `go list` for each system that hikyaku runs on and fail on
//
//   - a package that is on no floor, and an exception that nothing uses any more;
//   - an import that goes up or sideways, from code or from tests; a test that needs one is listed with its reason;
//   - code that imports a package made for tests;
//   - a public library that depends on more than the standard library when it promises not to;
//   - code that names queue.Store and is not among those that open one (keepers in store_test.go);
//   - a state of internal/queue that does not compile without the store, or that could wait, read a clock or do input
//     or output (state_test.go);
//   - a package without a package comment, a file of code with more than 500 lines;
//   - a table of floors in docs/architecture.md that is not the map.
//
// When the last one fails because the map was changed on purpose, write the table anew:
//
//	go test ./internal/house -update
//
// # Adding a room
//
// A new source, transform, sink or door needs nothing here: the map knows their folders. Any other new room is added to
// the floor just above the highest room that it imports. When no floor fits, the room may want to be two.
package house
