// Package accounts holds the tests of what other accounts of this machine may do with a hikyaku that has no users: the
// real program runs as one account, and processes of others call its doors. It has no code of its own and nothing
// imports it.
//
// Only root can be several accounts; for everybody else the tests say what is left of them.
package accounts
