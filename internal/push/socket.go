package push

import (
	"bufio"
	"errors"
	"net"
	"os"
)

// buffered reads from the socket in large pieces, of which TLS takes its records. Its owner is the reader of a
// connection.
type buffered struct {
	net.Conn
	buf      []byte
	from, to int
	dry      bool // what is here is read, and nothing is waited for
}

const socketLen = 64 << 10

func (b *buffered) Read(p []byte) (int, error) {
	if b.from == b.to {
		if b.dry {
			return 0, os.ErrDeadlineExceeded // which ends neither TLS nor what reads from it
		}
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

// isMore tells whether a reader of the connection has something to read at once, or its end.
func (b *buffered) isMore(from *bufio.Reader) bool {
	b.dry = true
	_, err := from.Peek(1)
	b.dry = false
	return !errors.Is(err, os.ErrDeadlineExceeded)
}
