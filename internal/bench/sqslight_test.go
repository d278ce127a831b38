package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// sayingLine is a line on which a server has said something, and hung up.
func sayingLine(t testing.TB, text string) *sqsLine {
	t.Helper()
	ours, theirs := net.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.WriteString(theirs, text) // who reads may have had enough before
		_ = theirs.Close()
	}()
	t.Cleanup(func() {
		_ = ours.Close()
		<-ended
	})
	return lineOver(context.Background(), ours, "here")
}

func TestALightLineReadsAnswersOfEitherServer(t *testing.T) {
	for name, text := range map[string]string{
		"ours":      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: application/x-amz-json-1.0\r\n\r\n{}",
		"elasticmq": "HTTP/1.1 200 OK\r\nx-amzn-RequestId: 0\r\nServer: x\r\ncontent-length: 2\r\n\r\n{}more",
	} {
		if body, err := sayingLine(t, text).hear("SendMessage"); err != nil || string(body) != "{}" {
			t.Errorf("%s: %q, %v", name, body, err)
		}
	}
}

func TestALightLineSaysWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want error
		says string
	}{
		"refused": {"HTTP/1.1 400 Bad Request\r\nContent-Length: 4\r\n\r\nwhat", errSQS,
			"SendMessage: the server refused: what"},
		"another version": {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}", errProtocol, "HTTP/1.0"},
		"no length":       {"HTTP/1.1 200 OK\r\n\r\n{}", errProtocol, "no length"},
		"a wrong length":  {"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n{}", errProtocol, `"x"`},
		"too great a one": {"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n{}", errProtocol, "too great"},
		"cut off":         {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", io.ErrUnexpectedEOF, "unexpected EOF"},
		"nothing":         {"", io.EOF, "EOF"},
	} {
		if _, err := sayingLine(t, c.text).hear("SendMessage"); !errors.Is(err, c.want) ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want one that says %q", name, err, c.says)
		}
	}
}

func TestTextsAreFoundWithoutReadingTheRest(t *testing.T) {
	answer := []byte(`{"Messages":[{"Body":"\"Id\"","Id":"a"},{"Id" : "b","IdOther":"c"}],"Failed":[{"Id":7}]}`)
	var got []string
	for {
		text, rest, ok := textOf(`"Id"`, answer)
		if !ok {
			break
		}
		got, answer = append(got, string(text)), rest
	}
	if strings.Join(got, " ") != "a b" {
		t.Errorf("found %q", got)
	}
}

// FuzzTextOf holds it to what encoding/json says of objects of texts without escapes.
func FuzzTextOf(f *testing.F) {
	f.Add("Id", "value")
	f.Add("ReceiptHandle", "")
	f.Add("a", "b c")
	f.Fuzz(func(t *testing.T, name, value string) {
		answer, err := json.Marshal(map[string]string{name: value})
		if err != nil || bytes.ContainsRune(answer, '\\') || name == "" || strings.ContainsAny(name+value, ":") {
			return
		}
		text, rest, ok := textOf(`"`+name+`"`, answer)
		if !ok || string(text) != value || string(rest) != "}" {
			t.Errorf("%s: %q %q %v", answer, text, rest, ok)
		}
	})
}

// FuzzHear feeds answers of any kind.
func FuzzHear(f *testing.F) {
	f.Add("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
	f.Add("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}")
	f.Add("HTTP/1.1 500\r\n:\r\n\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		if body, err := sayingLine(t, text).hear("SendMessage"); err == nil && !strings.Contains(text, string(body)) {
			t.Errorf("%q was never said", body)
		}
	})
}

func TestHandsShareWhatIsLeftAndNoneWaitsForWhatOthersTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShare(12)
		if a, b := s.reserve(10), s.reserve(10); a != 10 || b != 2 {
			t.Fatalf("%d and %d of 12 were reserved", a, b)
		}
		waiting := make(chan int, 1)
		go func() { waiting <- s.reserve(10) }()
		synctest.Wait()
		select {
		case n := <-waiting:
			t.Fatalf("%d were reserved while others may still take all", n)
		default:
		}
		s.settle(10, 7) // three did not come
		if n := <-waiting; n != 3 {
			t.Errorf("%d were reserved of three", n)
		}
		s.settle(2, 2)
		s.settle(3, 3)
		if n := s.reserve(10); n != 0 {
			t.Errorf("%d were reserved of nothing", n)
		}
	})
}

func TestWhereFewAreLetInWhoeverIsGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := newShare(3)
		s.loose = true
		if a, b := s.reserve(2), s.reserve(2); a != 2 || b != 2 {
			t.Fatalf("%d and %d of 3 were asked for", a, b)
		}
		time.Sleep(time.Second)
		s.settle(2, 2)
		if n := s.reserve(2); n != 1 {
			t.Errorf("%d were asked for, one is left", n)
		}
		time.Sleep(time.Second)
		s.settle(1, 1)
		if n := s.reserve(2); n != 0 {
			t.Errorf("%d were asked for, nothing is left", n)
		}
		time.Sleep(time.Second)
		s.settle(2, 0) // it waited in vain
		if took := s.ended(began); took != 2*time.Second {
			t.Errorf("the last was taken after %v", took)
		}
	})
}

func TestWhatIsNotTakenInTimeTookAllTheTimeThereWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := newShare(2)
		s.settle(s.reserve(1), 1)
		time.Sleep(time.Second)
		if took := s.ended(began); took != time.Second {
			t.Errorf("one of two was taken in %v", took)
		}
	})
}

func TestAHandThatGivesUpLetsNoneWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShare(1)
		s.reserve(1)
		waiting := make(chan int, 1)
		go func() { waiting <- s.reserve(1) }()
		synctest.Wait()
		s.wake()
		if n := <-waiting; n != 0 {
			t.Errorf("%d were reserved", n)
		}
	})
}

// slowServer is a hand at a server that receives one message a second, and another second later for each that waits.
type slowServer struct{ waiting *int }

func (s slowServer) send(n int) error { *s.waiting += n; return nil }

func (s slowServer) take(n int) (int, error) {
	n = min(n, *s.waiting)
	time.Sleep(time.Duration(*s.waiting) * time.Second)
	*s.waiting -= n
	return n, nil
}

func (slowServer) close() error { return nil }

func TestAServerThatCannotKeepUpIsGivenFewerMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waiting := 0
		q := &sqsQueue{post: &sqsPost{name: "slow"}}
		c, err := newSQSCrew(q, 1, 1, func() (sqsHand, error) { return slowServer{&waiting}, nil })
		if err != nil {
			t.Fatal(err)
		}
		if err := c.bound(t.Context(), time.Minute, 20*time.Second); err != nil {
			t.Fatal(err)
		}
		if c.most < 1 || c.most > 5 || waiting != 0 || q.waits != 0 {
			t.Errorf("a slice has %d messages at most, %d are left", c.most, waiting)
		}
		if err := c.round(t.Context(), time.Minute, 20*time.Second); err != nil || c.sent[0].n != c.most ||
			c.taken[0].n != c.most {
			t.Errorf("%d were sent and %d taken: %v", c.sent[0].n, c.taken[0].n, err)
		}
	})
}

func TestALineEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ours, theirs := net.Pipe()
	defer theirs.Close()
	l := lineOver(ctx, ours, "here")
	cancel()
	if _, err := l.hear("ReceiveMessage"); err == nil {
		t.Error("something was heard")
	}
	_ = l.close() // it is closed already
	if err := ours.SetDeadline(time.Time{}); err == nil {
		t.Error("the connection is open")
	}
}
