// Package clients_test runs the clients of MySQL that people use, each in its own language, against the real program.
//
// Every client has a folder here with a program that does what its users do: connect in every way it can, make a table
// of ENGINE=QUEUE, insert, wait, read, end and abort, meet errors, hang up. The program prints a line a check, "ok
// NAME" or "not ok NAME: why". The test starts hikyaku once without users and once with users and a certificate, runs
// the programs, and demands that just the checks of the list (list_test.go) ran, and that all are ok.
//
// A client that is not installed fails the test; scripts/need-clients installs all of them, and `make test` runs it.
// README.md tells how to run one program by hand and how to add one.
package clients_test
