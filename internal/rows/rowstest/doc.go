// Package rowstest holds every sink over package rows to the same promises, with a real database behind it.
//
//	func TestConformance(t *testing.T) {
//		rowstest.Run(t, rowstest.Harness{Open: …, Create: …, Read: …})
//	}
//
// A Harness is what the suite has to know of one database: how to make a sink over it, how to make a table and read it,
// and how to make it misbehave. What a database does not have is stated in Harness.Without with the reason; nothing is
// left out in silence.
//
// It is for tests only.
package rowstest
