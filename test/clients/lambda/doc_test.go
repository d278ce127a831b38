// Package clients_test runs Amazon's clients for Lambda, each in its own language, against the real program: they
// deploy functions from archives, invoke them in every way, publish versions, feed them from queues, and meet errors.
//
// A client that is not installed fails the test; scripts/need-clients installs all of them, and `make test` runs it.
// README.md says what the checks are.
package clients_test
