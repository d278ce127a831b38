// Package clients_test runs TsurugiDB's own clients against the server that tests of ours use, package tsurugitest:
// what they do not understand, it does wrong. README.md says more.
package clients_test
