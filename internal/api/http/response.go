package http

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// response is an http.ResponseWriter for clients that may be slow: each part of the answer has to be taken within the
// stall time, and no deadline runs while nothing is being written.
type response struct {
	http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration
	status  int // 0: nothing was written
	written int64
}

func newResponse(w http.ResponseWriter, stall time.Duration) *response {
	r := &response{ResponseWriter: w, control: http.NewResponseController(w), stall: stall}
	r.idle() // of the request before, on the same connection
	return r
}

// chunkBytes is what has to be taken within the stall time.
const chunkBytes = 32 << 10

func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *response) Write(p []byte) (n int, err error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	for {
		chunk := p[n:min(n+chunkBytes, len(p))]
		w.hurry()
		wrote, err := w.ResponseWriter.Write(chunk)
		n += wrote
		w.written += int64(wrote)
		if err != nil || n >= len(p) {
			return n, err
		}
	}
}

// FlushError is flush, for http.ResponseController.
func (w *response) FlushError() error { return w.flush() }

// flush sends what is buffered and waits until the connection has taken it.
func (w *response) flush() error {
	w.hurry()
	err := w.control.Flush()
	w.idle()
	return err
}

// hurry starts the stall time. Connections without deadlines (tests with a recorder) have none.
func (w *response) hurry() { _ = w.control.SetWriteDeadline(time.Now().Add(w.stall)) }

func (w *response) idle() { _ = w.control.SetWriteDeadline(time.Time{}) }

// json answers with a value.
func (w *response) json(status int, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	data = append(data, '\n')
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Length", strconv.Itoa(len(data))) // in chunks it would be written twice, above 2 KiB
	w.WriteHeader(status)
	_, err = w.Write(data)
	return err
}
