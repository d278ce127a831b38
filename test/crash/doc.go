// Package crash holds the tests that drive the whole program from outside and break what is around it: the process is
// killed at random moments, the disk runs full, a far end hangs or is down, bytes of the journal change. It has no code
// of its own and nothing imports it.
//
// Every test uses the program as it is built for users, its HTTP door, real files, and the receiver of
// internal/sandbox/webhook in the test's process. Each ends with `hikyaku journal check`.
//
// # What is random
//
// The moments of kills and the choices of clients come from a generator. Its seed is printed when a test fails, and
//
//	HIKYAKU_CRASH_SEED=17 go test ./test/crash -run TestNothingIsLost
//
// uses it again. The processes' timing is their own, so the same seed makes a failure more likely, not certain.
//
// # How to wait
//
// Nothing sleeps in the hope that something has happened by then: until polls what can be seen from outside, with a
// deadline that only a broken program reaches. The pauses before a kill are the fault that is injected, not a wait.
package crash
