// Package wire reads and writes the two protocols of Amazon SQS: AWS JSON 1.0, which today's SDKs speak, and the query
// protocol (forms in, XML out) of the older ones and of programs that make their requests by hand. Both become the same
// typed requests, and one typed response or Error is written in whichever protocol the request came in.
//
// It knows no queues. What a request must look like is checked here: the action, required parameters, types, the
// numbering of lists. What its values mean (is 43201 a visibility timeout, may this receipt be used) is the door's
// business, for which there is a constructor of every documented error here.
//
//	call, bad := wire.Decode(r, body)
//	if bad != nil {
//		buf = wire.WriteError(w, buf, call, bad)
//		return
//	}
//	switch in := call.Request.(type) {
//	case *wire.SendMessageRequest:
//		…
//		buf = wire.WriteResponse(w, buf, call, &wire.SendMessageResponse{MessageID: id, MD5OfMessageBody: wire.MD5OfBody(in.MessageBody)})
//	}
//
// Nothing here keeps state; every function may be called from any goroutine. What Decode returns does not share memory
// with the body it was given.
package wire
