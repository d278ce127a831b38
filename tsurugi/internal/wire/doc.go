// Package wire holds what stands on the line between a TsurugiDB client and its server: frames, and the header before
// each message in them. It knows neither what the messages say (package message) nor who waits for an answer (package
// session).
//
// Each side sends frames, in little-endian order. A client's frame is
//
//	info u8 · slot u16 · length u32 · payload
//
// and a server's the same, but for the payload of a result set, which has a writer between slot and length:
//
//	info u8 · slot u16 · writer u8 · length u32 · payload
//
// The payload of a request, of an answer and of a body head is two protocol buffers, each after its length as a varint:
// a header, and the message of the service that the header names. Slots match answers with requests: a client picks one
// that is free, and the answer comes back with it.
//
//	buf = wire.AppendRequest(buf, slot, header, message)
//	frame, err := reader.Response()
package wire
