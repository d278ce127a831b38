// Package value has the values that stand in TsurugiDB's columns, small enough to be kept by the million: 32 bytes, no
// pointer but one, and nothing allocated for a number. Package tsurugi shows them to programs as its own; the messages
// and result sets are made of them.
package value
