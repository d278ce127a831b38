package webhook

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Server is a Receiver that listens.
type Server struct {
	*Receiver
	server *http.Server
	addr   net.Addr
	ended  chan struct{}
}

// Listen starts a Receiver on an address, as "127.0.0.1:0". Close it.
func Listen(address string) (*Server, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("webhook receiver: %w", err)
	}
	s := &Server{Receiver: NewReceiver(), addr: l.Addr(), ended: make(chan struct{})}
	s.server = &http.Server{Handler: s.Receiver, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 1 << 20}
	go func() {
		defer close(s.ended)
		s.server.Serve(l) // returns when Close was called
	}()
	return s, nil
}

// URL is where messages go.
func (s *Server) URL() string { return "http://" + s.addr.String() + "/" }

// Close ends the server and everything that hangs.
func (s *Server) Close() error {
	s.Release()
	err := s.server.Close()
	<-s.ended
	return err
}

// control answers what other processes ask and tell.
func (r *Receiver) control(w http.ResponseWriter, req *http.Request, what string) {
	var err error
	switch req.Method + " " + what {
	case "PUT always":
		var b Behaviour
		if err = read(w, req, &b); err == nil {
			err = r.Always(b)
		}
	case "PUT script":
		var bs []Behaviour
		if err = read(w, req, &bs); err == nil {
			err = r.Script(bs...)
		}
	case "POST forget":
		r.Forget()
	case "GET counts":
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(r.Counts()) // a client that is gone misses nothing
		return
	default:
		http.Error(w, "there are PUT always, PUT script, GET counts and POST forget", http.StatusNotFound)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func read(w http.ResponseWriter, req *http.Request, into any) error {
	d := json.NewDecoder(http.MaxBytesReader(w, req.Body, 1<<20))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
