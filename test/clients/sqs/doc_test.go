// Package clients_test runs Amazon's clients for SQS, each in its own language, against the real program.
//
// Every client has a folder here with a program that does what its users do: make queues, send and receive in every way
// it can, meet errors. The test starts hikyaku once, and once more with users, and runs all programs at once, each with
// queues of its own; the list of list_test.go says which checks each has to do. The example for Java programs,
// examples/sqs-collector-sender, is run in the same way.
//
// A client that is not installed fails the test; scripts/need-clients installs all of them, and `make test` runs it.
// README.md tells how to run one program by hand and how to add one.
package clients_test
