// Package clients_test runs Google's clients for Pub/Sub, each in its own language, against the real program.
//
// Every client has a folder here with a program that does what its users do: make topics and subscriptions, publish in
// every way it can, receive, acknowledge, seek, meet errors. The test starts hikyaku once and runs all programs at
// once, each in a project of its own; the list of list_test.go says which checks each has to do.
//
// A client that is not installed fails the test; scripts/need-clients installs all of them, and `make test` runs it.
// README.md tells how to run one program by hand and how to add one.
package clients_test
