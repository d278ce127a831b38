package line

import (
	"crypto/tls"
	"errors"
	"io"
)

// unencrypted is what a client is told that speaks plain HTTP where TLS is spoken. It knows no other protocol.
const unencrypted = "HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n" +
	"This port speaks HTTPS: use https:// in place of http://.\n"

// TellPlain tells the client of a handshake that failed what is wrong, if it has begun with a request of plain HTTP;
// else it does nothing. The connection is for the caller to close.
func TellPlain(err error) {
	var begun tls.RecordHeaderError
	if !errors.As(err, &begun) || begun.Conn == nil {
		return
	}
	switch string(begun.RecordHeader[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "DELET", "PATCH", "OPTIO":
		_, _ = io.WriteString(begun.Conn, unencrypted) // who is gone needs no answer
	}
}
