package push

import "net"

// buffered reads from the socket in large pieces, of which TLS takes its records. Its owner is the reader of a
// connection.
type buffered struct {
	net.Conn
	buf      []byte
	from, to int
}

const socketLen = 64 << 10

func (b *buffered) Read(p []byte) (int, error) {
	if b.from == b.to {
		if b.buf == nil {
			b.buf = make([]byte, socketLen)
		}
		n, err := b.Conn.Read(b.buf)
		if n == 0 {
			return 0, err
		}
		b.from, b.to = 0, n // an error comes again with the next read
	}
	n := copy(p, b.buf[b.from:b.to])
	b.from += n
	return n, nil
}

// more tells whether reading gives something at once: a whole record if it is TLS.
func (b *buffered) more(secure bool) bool {
	have := b.buf[b.from:b.to]
	if !secure {
		return len(have) > 0
	}
	return len(have) >= 5 && len(have) >= 5+(int(have[3])<<8|int(have[4]))
}
