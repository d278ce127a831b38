// Package compress speaks the compressed protocol of MySQL, by zlib or zstd, below the protocol's library, which has
// neither.
//
//	listener hands out compress.Greet(conn)           // announces it in the greeting, and reads what the client chose
//	…
//	if m := compress.Chosen(conn); m != compress.None // once the client was let in
//		conn = compress.New(conn, m, budget)          // behind the packet that tells it so
//
// What a client sends is unpacked as it is read; what needs more memory than a small packet is taken of the budget.
package compress
