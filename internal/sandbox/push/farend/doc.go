// Package farend is the far end of pushes over HTTP/2: a server that is fast, counts what it took, and can be told to
// misbehave.
//
// It knows no provider. A Service (the packages beside it) checks a request and makes its answer;
// the far end reads frames, keeps the streams, waits as long as its Behaviour says, and breaks things when it says so.
// Everything about it can be changed while clients are connected.
//
//	s, err := farend.Start(farend.Config{Authority: authority}, service)
//	defer s.Close()
//	s.Behave(farend.Behaviour{
//		Latency:   farend.Latency{Median: farend.Duration(40 * time.Millisecond), Sigma: 0.8},
//		Newcomers: farend.Newcomers{PerSecond: 20, Do: farend.ResetThem},
//		Faults:    []farend.Fault{{Do: farend.GoAway, Every: 10_000, Unprocessed: 0.5}},
//	})
//
// # What counts as processed
//
// A message is processed at the moment its answer is due, not when it arrives: what a GOAWAY leaves unprocessed was
// never counted. An answer that a fault takes away after the message was processed is counted as lost, so that a test
// knows exactly how many messages a correct client may have sent twice.
//
// # Speed
//
// Tests measure clients against it on the same machine, so it must be the cheaper half: frames are read by
// golang.org/x/net/http2, answers are encoded without state, one goroutine writes for a connection what has gathered,
// and all waits hang on one wheel.
//
// It is not a server for the open network.
package farend
