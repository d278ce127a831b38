// Package wire has the bytes of HTTP/2 that a push client needs: frames, and the compression of request fields. It does
// no I/O, keeps no streams and decides nothing.
//
// Frames are appended to a buffer of the caller's and read in place:
//
//	buf = wire.AppendFrame(buf, wire.TypePing, 0, 0, payload)
//	frame, n, err := wire.Next(buf, limit) // n is 0 while the frame is not there whole
//
// An [Encoder] writes field blocks. It is made for many requests that are alike: what repeats goes into the table at
// its second appearance and costs one byte from the third on; what does not repeat never pushes anything out of the
// table.
package wire
