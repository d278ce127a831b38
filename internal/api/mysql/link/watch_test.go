package link_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/api/mysql/link"
)

func send(t *testing.T, to io.Writer, text string) {
	t.Helper()
	if _, err := to.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

func receive(t *testing.T, from io.Reader, want string) {
	t.Helper()
	b := make([]byte, len(want))
	if _, err := io.ReadFull(from, b); err != nil || string(b) != want {
		t.Errorf("read %q, not %q: %v", b, want, err)
	}
}

func TestAWatchNoticesThatTheClientCloses(t *testing.T) {
	ways(t, func(t *testing.T, client net.Conn, server *link.Conn) {
		gone, stop := server.Watch()
		defer stop()
		client.Close()
		soon(t, "gone", gone)
		stop()
		if _, err := server.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("the read after it: %v", err)
		}
		gone, stop = server.Watch()
		defer stop()
		soon(t, "gone, asked again", gone)
	})
}

func TestAWatchNoticesAReset(t *testing.T) {
	l := listen(t, link.Config{TCP: "127.0.0.1:0"})
	client, server := pair(t, l, 0)
	gone, stop := server.Watch()
	defer stop()
	if err := client.(*net.TCPConn).SetLinger(0); err != nil {
		t.Fatal(err)
	}
	client.Close()
	soon(t, "gone", gone)
	stop()
	if _, err := server.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the read after it: %v", err)
	}
}

func TestAWatchNoticesThatTheServerCloses(t *testing.T) {
	ways(t, func(t *testing.T, _ net.Conn, server *link.Conn) {
		gone, stop := server.Watch()
		server.Close()
		soon(t, "gone", gone)
		stop()
	})
}

func TestAWatchKeepsWhatComes(t *testing.T) {
	ways(t, func(t *testing.T, client net.Conn, server *link.Conn) {
		gone, stop := server.Watch()
		send(t, client, "first")
		send(t, client, "second")
		stop()
		send(t, client, "third")
		receive(t, server, "firstsecondthird")
		select {
		case <-gone:
			t.Error("data was taken for the end")
		default:
		}
	})
}

func TestAWatchNoticesTheEndBehindAGoodbye(t *testing.T) {
	ways(t, func(t *testing.T, client net.Conn, server *link.Conn) {
		gone, stop := server.Watch()
		defer stop()
		goodbye := "\x01\x00\x00\x00\x01" // COM_QUIT
		send(t, client, goodbye)
		client.Close()
		soon(t, "gone", gone)
		receive(t, server, goodbye)
		if _, err := server.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("behind the goodbye: %v", err)
		}
	})
}

func TestAWatchWorksBelowTLS(t *testing.T) {
	ways(t, func(t *testing.T, client net.Conn, server *link.Conn) {
		below, above := encrypted(t, client, server)
		if found, ok := link.Of(above); !ok || found != server {
			t.Fatalf("Of finds %v, %v", found, ok)
		}
		gone, stop := server.Watch()
		send(t, below, "first")
		send(t, below, "second")
		stop()
		send(t, below, "third")
		receive(t, above, "firstsecondthird")

		gone2, stop := server.Watch()
		defer stop()
		go below.Close() // says goodbye in an alert, first
		soon(t, "gone", gone2)
		select {
		case <-gone:
			t.Error("the watch before it was told, too")
		default:
		}
		if _, err := above.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("the goodbye: %v", err)
		}
	})
}

func TestMoreThanAWatchKeepsIsNotLost(t *testing.T) {
	ways(t, func(t *testing.T, client net.Conn, server *link.Conn) {
		text := make([]byte, 1<<20)
		for i := range text {
			text[i] = byte(i * 7 / 5)
		}
		_, stop := server.Watch()
		defer stop()
		go client.Write(text)
		receive(t, server, string(text[:10])) // ends the watch, wherever it is
		gone, stop := server.Watch()
		defer stop()
		receive(t, server, string(text[10:]))
		select {
		case <-gone:
			t.Error("data was taken for the end")
		default:
		}
	})
}

func TestAReadAndAnotherWatchEndAWatch(t *testing.T) {
	ways(t, func(t *testing.T, client net.Conn, server *link.Conn) {
		first, stopFirst := server.Watch()
		second, stopSecond := server.Watch()
		stopFirst()
		send(t, client, "x")
		receive(t, server, "x")
		third, stopThird := server.Watch()
		client.Close()
		soon(t, "gone", third)
		stopThird()
		stopSecond()
		for _, ended := range []<-chan struct{}{first, second} {
			select {
			case <-ended:
				t.Error("a watch that was over was told")
			default:
			}
		}
	})
}

func TestAWatchLeavesTheReadDeadlineAsItWas(t *testing.T) {
	ways(t, func(t *testing.T, client net.Conn, server *link.Conn) {
		_, stop := server.Watch()
		stop()
		stop()
		go client.Write([]byte("x"))
		receive(t, server, "x")

		_ = server.SetReadDeadline(time.Now())
		gone, stop := server.Watch()
		select {
		case <-gone:
			t.Error("a deadline was taken for the end")
		default:
		}
		stop()
		if _, err := server.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the deadline from before the watch: %v", err)
		}
		_ = server.SetReadDeadline(time.Time{})
		_, stop = server.Watch()
		_ = server.SetReadDeadline(time.Now())
		stop()
		if _, err := server.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the deadline from within the watch: %v", err)
		}
	})
}

func TestAWatchedContextEndsWithTheClient(t *testing.T) {
	ways(t, func(t *testing.T, client net.Conn, server *link.Conn) {
		ctx, stop := server.WatchContext(t.Context())
		defer stop()
		if err := ctx.Err(); err != nil {
			t.Fatal(err)
		}
		client.Close()
		soon(t, "the context's end", ctx.Done())
		if cause := context.Cause(ctx); !errors.Is(cause, link.ErrGone) {
			t.Errorf("the cause is %v", cause)
		}
	})
}

func TestAWatchedContextEndsWithItsParentAndItsStop(t *testing.T) {
	ways(t, func(t *testing.T, client net.Conn, server *link.Conn) {
		parent, cancel := context.WithCancel(t.Context())
		ctx, stop := server.WatchContext(parent)
		cancel()
		soon(t, "the context's end", ctx.Done())
		stop()
		ctx, stop = server.WatchContext(t.Context())
		stop()
		if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) || errors.Is(cause, link.ErrGone) {
			t.Errorf("the cause is %v", cause)
		}
		send(t, client, "x")
		receive(t, server, "x")
	})
}

func BenchmarkAWatchThatIsStoppedAgain(b *testing.B) {
	_, server := pair(b, listen(b, link.Config{TCP: "127.0.0.1:0"}), 0)
	b.ReportAllocs()
	for b.Loop() {
		_, stop := server.Watch()
		stop()
	}
}
