// Package message has the messages of TsurugiDB's services, those that clients send and those that servers answer, as
// plain structures: requests are appended by clients and parsed by the server that tests use, answers the other way
// round. Field numbers are facts of the protocol; the rest is this package's own. Package wire has what stands around a
// message.
package message
