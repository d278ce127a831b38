package link

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// inATub runs a test with a clock of its own and a connection without a network.
func inATub(t *testing.T, test func(t *testing.T, client net.Conn, server *Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		client, raw := net.Pipe()
		server := newConn(raw, defaultHandshake, defaultStall)
		defer client.Close()
		defer server.Close()
		test(t, client, server)
	})
}

func TestASilentClientIsEndedAfterTheHandshakesTime(t *testing.T) {
	inATub(t, func(t *testing.T, _ net.Conn, server *Conn) {
		begun := time.Now()
		_, err := server.Read(make([]byte, 1))
		if !errors.Is(err, ErrHandshake) || !errors.Is(err, os.ErrDeadlineExceeded) ||
			time.Since(begun) != defaultHandshake {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
	})
}

func TestADribblingClientGetsNoMoreTime(t *testing.T) {
	inATub(t, func(t *testing.T, client net.Conn, server *Conn) {
		dribbled := make(chan struct{})
		go func() {
			defer close(dribbled)
			for {
				if _, err := client.Write([]byte("x")); err != nil {
					return
				}
				time.Sleep(3 * time.Second)
			}
		}()
		begun := time.Now()
		n, err := io.Copy(io.Discard, struct{ io.Reader }{server})
		if n != 4 || !errors.Is(err, ErrHandshake) || time.Since(begun) != defaultHandshake {
			t.Errorf("%d bytes, after %s: %v", n, time.Since(begun), err)
		}
		server.Close()
		<-dribbled
	})
}

func TestAClientThatDoesNotReadTheGreetingIsEnded(t *testing.T) {
	inATub(t, func(t *testing.T, _ net.Conn, server *Conn) {
		begun := time.Now()
		if _, err := server.Write([]byte("greeting")); !errors.Is(err, ErrHandshake) ||
			time.Since(begun) != defaultHandshake {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
	})
}

func TestTheHandshakesTimeBeginsWithItsFirstByte(t *testing.T) {
	inATub(t, func(t *testing.T, client net.Conn, server *Conn) {
		time.Sleep(time.Hour) // in a queue of connections that may not begin yet
		go client.Write([]byte("x"))
		if _, err := server.Read(make([]byte, 1)); err != nil {
			t.Error(err)
		}
	})
}

func TestAReadyClientMayBeSilent(t *testing.T) {
	inATub(t, func(t *testing.T, client net.Conn, server *Conn) {
		go func() {
			client.Write([]byte("x"))
			time.Sleep(24 * time.Hour)
			client.Write([]byte("y"))
		}()
		if _, err := server.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		server.Ready()
		if _, err := server.Read(make([]byte, 1)); err != nil {
			t.Error(err)
		}
	})
}

func TestAHandshakeIsBounded(t *testing.T) {
	for _, ready := range []bool{false, true} {
		inATub(t, func(t *testing.T, client net.Conn, server *Conn) {
			if ready {
				server.Ready()
			}
			go func() {
				client.Write(make([]byte, 2*maxHandshakeBytes))
				client.Close()
			}()
			n, err := io.Copy(io.Discard, struct{ io.Reader }{server})
			if ready && (err != nil || n != 2*maxHandshakeBytes) {
				t.Errorf("ready: %d bytes, %v", n, err)
			}
			if !ready && (!errors.Is(err, ErrHandshake) || n > maxHandshakeBytes+64<<10) {
				t.Errorf("not ready: %d bytes, %v", n, err)
			}
		})
	}
}

func TestAClientThatTakesNothingIsEnded(t *testing.T) {
	inATub(t, func(t *testing.T, _ net.Conn, server *Conn) {
		server.Ready()
		begun := time.Now()
		n, err := server.Write([]byte("rows"))
		if n != 0 || !errors.Is(err, ErrStalled) || time.Since(begun) != defaultStall {
			t.Errorf("%d bytes, after %s: %v", n, time.Since(begun), err)
		}
	})
}

func TestASlowClientGetsAllOfALargeAnswer(t *testing.T) {
	inATub(t, func(t *testing.T, client net.Conn, server *Conn) {
		server.Ready()
		answer := bytes.Repeat([]byte("0123456789abcdef"), 10*writeChunk/16)
		answer = append(answer, "the end"...)
		var got bytes.Buffer
		done := make(chan error)
		go func() {
			for got.Len() < len(answer) {
				time.Sleep(defaultStall - time.Second)
				if _, err := io.CopyN(&got, client, min(writeChunk, int64(len(answer)-got.Len()))); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
		if n, err := server.Write(answer); n != len(answer) || err != nil {
			t.Errorf("%d of %d bytes: %v", n, len(answer), err)
		}
		if err := <-done; err != nil || !bytes.Equal(got.Bytes(), answer) {
			t.Errorf("the answer is not what was written: %v", err)
		}
	})
}

func TestNothingIsEndedThatShallNotBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, raw := net.Pipe()
		defer client.Close()
		server := newConn(raw, -1, -1)
		defer server.Close()
		go func() {
			time.Sleep(time.Hour)
			client.Read(make([]byte, 1))
			time.Sleep(time.Hour)
			client.Write([]byte("x"))
		}()
		if _, err := server.Write([]byte("x")); err != nil {
			t.Error(err)
		}
		if _, err := server.Read(make([]byte, 1)); err != nil {
			t.Error(err)
		}
	})
}

func TestDeadlinesFromOutsideHoldBesideItsOwn(t *testing.T) {
	inATub(t, func(t *testing.T, _ net.Conn, server *Conn) {
		read := func() error { _, err := server.Read(make([]byte, 1)); return err }
		write := func() error { _, err := server.Write([]byte("x")); return err }
		ends := func(what string, after time.Duration, do func() error) {
			t.Helper()
			begun := time.Now()
			if err := do(); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begun) != after {
				t.Errorf("%s ended after %s: %v", what, time.Since(begun), err)
			}
		}
		_ = server.SetReadDeadline(time.Now().Add(time.Second))
		ends("a read within the handshake", time.Second, read)
		_ = server.SetReadDeadline(time.Now().Add(time.Hour))
		ends("the handshake", 9*time.Second, read)
		server.Ready()
		_ = server.SetDeadline(time.Now().Add(time.Second))
		ends("a read", time.Second, read)
		_ = server.SetWriteDeadline(time.Now().Add(2 * time.Second))
		ends("a write", 2*time.Second, write)
		_ = server.SetWriteDeadline(time.Time{})
		ends("a write that stalls", defaultStall, write)
	})
}

func TestOfFindsOnlyWhatIsThere(t *testing.T) {
	client, raw := net.Pipe()
	defer client.Close()
	defer raw.Close()
	if _, ok := Of(raw); ok {
		t.Error("found a Conn in a pipe")
	}
	if _, ok := Of(nil); ok {
		t.Error("found a Conn in nothing")
	}
}
