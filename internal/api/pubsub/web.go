package pubsub

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/pubsub/rest"
	"github.com/hikyaku/hikyaku/internal/caller"
	"github.com/hikyaku/hikyaku/internal/door"
)

// newREST makes the server of the REST form. Its calls have all around them that stands around those of gRPC.
func (d *Server) newREST() (*http.Server, error) {
	services := rest.NewServices(codec{})
	d.register(services)
	handler, err := rest.New(services, rest.Options{Busy: d.busy, Traffic: d.traffic})
	if err != nil {
		return nil, fmt.Errorf("pubsub door: %w", err)
	}
	return &http.Server{
		Handler:           d.local(alive(handler)),
		ReadHeaderTimeout: door.HeaderTime,
		ReadTimeout:       door.BodyTime,
		IdleTimeout:       door.IdleTime,
		MaxHeaderBytes:    64 << 10,
		ConnContext:       caller.In,
		ErrorLog:          log.New(reporter(d.report), "", 0),
	}, nil
}

// local refuses, without users, hosts that are not this machine: any web site may let its own name point here.
func (d *Server) local(next http.Handler) http.Handler {
	if d.users.Any() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		host = strings.Trim(host, "[]")
		if host != "" && !access.LoopbackHost(host) && net.ParseIP(host) == nil {
			http.Error(w, "without users the door answers only to localhost and addresses; add users: to reach it by "+
				"a name", http.StatusForbidden)
			d.traffic.Ended("none", codes.PermissionDenied.String())
			return
		}
		next.ServeHTTP(w, r)
	})
}

// alive answers GET / as Google's emulator does, where scripts look whether it is up.
func alive(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			_, _ = io.WriteString(w, "Ok\n") // a client that is gone misses it
			return
		}
		next.ServeHTTP(w, r)
	})
}

// reporter is an io.Writer for a log.Logger.
type reporter func(error)

func (r reporter) Write(line []byte) (int, error) {
	r(fmt.Errorf("pubsub door: %s", strings.TrimRight(string(line), "\n")))
	return len(line), nil
}
