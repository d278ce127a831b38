package publisher_test

import (
	"net"
	"testing"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hikyaku/hikyaku/publisher"
)

// A service that goes away and comes back loses nothing and costs its users no more than patience: what was published
// meanwhile is sent again.
func TestAServiceMayRestartUnderLoad(t *testing.T) {
	s := new(service)
	addr, stop := s.serveAt(t, "127.0.0.1:0")
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{MinConnectTimeout: 1e9}))
	if err != nil {
		t.Fatal(err)
	}
	p := publisher.NewWithConn(conn, topic)
	p.EnableMessageOrdering = true
	var rs []*publisher.PublishResult
	for i := range 300 {
		if i == 150 {
			allGood(t, rs[0]) // it runs
			stop()
			_, stop = s.serveAt(t, addr)
		}
		rs = append(rs, p.Publish(t.Context(), keyed([]string{"", "a", "b"}[i%3], "x")))
	}
	p.Stop()
	allGood(t, rs...)
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	stop()
	if n := len(s.bodies()); n < 300 {
		t.Errorf("the service has %d messages of 300", n)
	}
}

// serveAt starts the service at an address and returns where it is, and what ends it at once.
func (s *service) serveAt(t *testing.T, addr string) (string, func()) {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	pubsubpb.RegisterPublisherServer(server, s)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	return l.Addr().String(), func() {
		server.Stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
