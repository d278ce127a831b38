// Package session is one connection to TsurugiDB: it shakes hands, sends requests of many callers one after the other
// without waiting for answers, gives each its answer, keeps the session alive, and ends all of that when the connection
// does. It knows requests by their service and their bytes; what they say is package message's matter, and what it
// means to a program package tsurugi's.
//
// Three goroutines belong to a Session, and Close waits for them: one reads, one writes, one renews the session's life
// and so finds out whether the server still answers. While the writer is busy, requests gather and then leave together;
// nothing waits for a clock.
//
// What is in flight is bounded by slots: Send blocks while all are taken. What has been received of a result set and
// was not read is bounded too: at the bound the session stops reading, so whoever has a large result set must read it,
// or close it, before the answers behind it arrive.
package session
