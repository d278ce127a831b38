// Package relation reads and writes the rows of a result set as TsurugiDB sends them: one entry after the other, each a
// byte that says what it is, small values within that byte, and what does not fit there behind it. A row is an entry
// with its number of columns and then theirs.
//
//	head    entry
//	00…3f   the numbers 0…63
//	40…7f   text of 1…64 bytes
//	80…9f   a row of 1…32 columns
//	a0…bf   an array (which the server never sends)
//	c0…cf   the numbers -16…-1
//	d0…df   1…16 bytes
//	e0…e7   1…8 bits
//	e8…     the rest, see the constants
package relation

// heads of entries.
const (
	headText       = 0x40
	headRow        = 0x80
	headArray      = 0xa0
	headNegative   = 0xc0
	headOctet      = 0xd0
	headBit        = 0xe0
	headNull       = 0xe8
	headInt        = 0xe9
	headFloat4     = 0xea
	headFloat8     = 0xeb
	headCompact    = 0xec // a decimal with a coefficient of 64 bits
	headDecimal    = 0xed
	headTimeZone   = 0xee // a time of day with a zone
	headPointZone  = 0xef // a time point with a zone
	headLongText   = 0xf0
	headLongOctet  = 0xf1
	headLongBit    = 0xf2
	headDate       = 0xf3
	headTimeOfDay  = 0xf4
	headTimePoint  = 0xf5
	headLongRow    = 0xf8
	headClob       = 0xfa
	headBlob       = 0xfb
	headEnd        = 0xfe // nothing follows
	maxInline      = headText - 1
	maxText        = headRow - headText
	maxRow         = headArray - headRow
	minNegative    = headNegative - headOctet
	maxOctet       = headBit - headOctet
	maxBit         = headNull - headBit
	referenceBytes = 24 // a provider, an id and a tag
)
