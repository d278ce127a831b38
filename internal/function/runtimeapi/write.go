package runtimeapi

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"
)

const acceptedText = "HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\nContent-Length: " +
	"16\r\n\r\n{\"status\":\"OK\"}\n"

// accepted says that an answer was taken.
func (c *conn) accepted() {
	_, _ = io.WriteString(c.net, acceptedText) // a runtime that is gone is noticed when it is read from
}

// refuse says why a request was not served.
func (c *conn) refuse(status int, errorType, message string) {
	c.json(status, "", map[string]string{"errorType": errorType, "errorMessage": message})
}

// json writes an answer; extra is more header lines, each with its end.
func (c *conn) json(status int, extra string, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"errorType":"InternalServerError"}`)
	}
	c.write(status, "application/json", extra, text)
}

func (c *conn) write(status int, contentType, extra string, body []byte) {
	b := append(make([]byte, 0, 160+len(body)), "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	b = append(b, http.StatusText(status)...)
	b = append(b, "\r\nContent-Type: "...)
	b = append(b, contentType...)
	b = append(b, "\r\n"...)
	b = append(b, extra...)
	b = append(b, "Content-Length: "...)
	b = strconv.AppendInt(b, int64(len(body)), 10)
	b = append(b, "\r\n\r\n"...)
	_, _ = c.net.Write(append(b, body...)) // a program that is gone is noticed when it is read from
}

// tooLarge ends an invocation whose answer is too large.
func (c *conn) tooLarge(inv *Invocation) {
	text := "Response payload size exceeded maximum allowed payload size (" + strconv.Itoa(MaxPayload) + " bytes)."
	c.s.answered(inv, failure(c.s.config.Now(), "Function.ResponseSizeTooLarge", text))
	c.refuse(http.StatusRequestEntityTooLarge, "RequestEntityTooLarge",
		"Exceeded maximum allowed payload size ("+strconv.Itoa(MaxPayload)+" bytes).")
}

// truncated is the answer of a runtime whose connection ended in the middle of it.
func truncated(at time.Time) Answer {
	return failure(at, "Runtime.TruncatedResponse", "The runtime ended its connection in the middle of the response.")
}

// failure is an answer of our own.
func failure(at time.Time, errorType, message string) Answer {
	body, err := json.Marshal(map[string]string{"errorType": errorType, "errorMessage": message})
	if err != nil { // strings always can be
		body = nil
	}
	return Answer{At: at, Body: body, ContentType: "application/json", ErrorType: errorType, Failed: true}
}
