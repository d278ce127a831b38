// Package lines turns bytes into lines and messages into lines: what the sources and sinks of text share.
//
//   - Reader cuts a stream into lines of bounded length and knows the byte offset of each; it can go on at the end of a
//     file that grows later.
//   - Watermark keeps, of the lines that were sent, the lowest offset that is not yet settled.
//   - Courier sends again what came back unsettled, after a back-off.
//   - Encoder renders a message as text, as JSON, or as JSON with everything that is known of it.
//   - Port reads and writes pipes and terminals so that a context can end a read or write that blocks.
//
// It knows nothing of files' names, rotation or pipelines: that is the business of the source or sink.
//
//	r := lines.NewReader(f, lines.Options{Max: 1 << 20})
//	for {
//		l, err := r.Next()
//		if errors.Is(err, io.EOF) {
//			break // or wait until the file has grown, and call Next again
//		}
//		…
//	}
package lines
