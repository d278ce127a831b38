package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// behave answers a request. delivered is called where the receiver has taken the message.
func (r *Receiver) behave(w http.ResponseWriter, req *http.Request, b Behaviour, delivered func()) {
	switch b.Do {
	case Accept:
		delivered()
		answer(w, http.StatusOK, b)
	case Status:
		if b.Code < 300 {
			delivered()
		}
		answer(w, b.Code, b)
	case Redirect:
		w.Header().Set("Location", b.Location)
		answer(w, b.Code, b)
	case Hang:
		r.wait(req, nil)
	case Slow:
		if r.wait(req, time.After(time.Duration(b.Delay))) {
			delivered()
			answer(w, http.StatusOK, b)
		}
	case Trickle:
		delivered()
		r.trickle(w, req, b)
	case Reset:
		breakOff(w, "")
	case Forget:
		delivered()
		breakOff(w, "")
	case Garbage:
		breakOff(w, "\x00\x01 this is not HTTP \xff\r\n\r\n")
	case Half:
		delivered()
		breakOff(w, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this")
	}
}

func answer(w http.ResponseWriter, code int, b Behaviour) {
	if b.RetryAfter != "" {
		w.Header().Set("Retry-After", b.RetryAfter)
	}
	w.WriteHeader(code)
	io.WriteString(w, b.Body) // a client that is gone misses nothing
}

// wait waits for a clock, the client or the end; true: for the clock.
func (r *Receiver) wait(req *http.Request, clock <-chan time.Time) bool {
	select {
	case <-clock:
		return true
	case <-req.Context().Done():
	case <-r.over:
	}
	return false
}

func (r *Receiver) trickle(w http.ResponseWriter, req *http.Request, b Behaviour) {
	flush := http.NewResponseController(w)
	for range trickleBytes {
		if _, err := w.Write([]byte{'.'}); err != nil || flush.Flush() != nil {
			return
		}
		if !r.wait(req, time.After(time.Duration(b.Delay))) {
			return
		}
	}
}

// breakOff sends text as it is and breaks the connection, with a reset where there is nothing to send. On HTTP/2 the
// stream alone is reset.
func breakOff(w http.ResponseWriter, text string) {
	h, ok := w.(http.Hijacker)
	if !ok {
		panic(http.ErrAbortHandler) // the documented way to break off an answer
	}
	conn, _, err := h.Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	if text != "" {
		io.WriteString(conn, text)
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0) // closing now resets
	}
}

// batchIDs reads the "id" members of a JSON array of objects, or of objects one a line.
func batchIDs(body []byte) []string {
	type named struct {
		ID string `json:"id"`
	}
	var all []named
	if len(body) > 0 && body[0] == '[' {
		if json.Unmarshal(body, &all) != nil {
			return nil
		}
	} else {
		d := json.NewDecoder(bytes.NewReader(body))
		for {
			var n named
			err := d.Decode(&n)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil
			}
			all = append(all, n)
		}
	}
	ids := make([]string, len(all))
	for i, n := range all {
		ids[i] = n.ID
	}
	return ids
}
