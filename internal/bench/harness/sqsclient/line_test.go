package sqsclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// sayingLine is a line on which a server has said something, and hung up.
func sayingLine(t testing.TB, text string) *Line {
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
		if body, err := sayingLine(t, text).Hear("SendMessage"); err != nil || string(body) != "{}" {
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
		"refused": {"HTTP/1.1 400 Bad Request\r\nContent-Length: 4\r\n\r\nwhat", ErrRefused,
			"SendMessage: the server refused: what"},
		"another version": {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}", harness.ErrProtocol, "HTTP/1.0"},
		"no length":       {"HTTP/1.1 200 OK\r\n\r\n{}", harness.ErrProtocol, "no length"},
		"a wrong length":  {"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n{}", harness.ErrProtocol, `"x"`},
		"too great a one": {"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n{}", harness.ErrProtocol,
			"too great"},
		"cut off": {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", io.ErrUnexpectedEOF, "unexpected EOF"},
		"nothing": {"", io.EOF, "EOF"},
	} {
		if _, err := sayingLine(t, c.text).Hear("SendMessage"); !errors.Is(err, c.want) ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want one that says %q", name, err, c.says)
		}
	}
}

func TestTextsAreFoundWithoutReadingTheRest(t *testing.T) {
	answer := []byte(`{"Messages":[{"Body":"\"Id\"","Id":"a"},{"Id" : "b","IdOther":"c"}],"Failed":[{"Id":7}]}`)
	var got []string
	for {
		text, rest, ok := TextOf(`"Id"`, answer)
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
		text, rest, ok := TextOf(`"`+name+`"`, answer)
		if !ok || string(text) != value || string(rest) != "}" {
			t.Errorf("%s: %q %q %v", answer, text, rest, ok)
		}
	})
}

func TestALineEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ours, theirs := net.Pipe()
	defer theirs.Close()
	l := lineOver(ctx, ours, "here")
	cancel()
	if _, err := l.Hear("ReceiveMessage"); err == nil {
		t.Error("something was heard")
	}
	_ = l.Close() // it is closed already
	if err := ours.SetDeadline(time.Time{}); err == nil {
		t.Error("the connection is open")
	}
}

// FuzzHear feeds answers of any kind.
func FuzzHear(f *testing.F) {
	f.Add("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
	f.Add("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}")
	f.Add("HTTP/1.1 500\r\n:\r\n\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		if body, err := sayingLine(t, text).Hear("SendMessage"); err == nil && !strings.Contains(text, string(body)) {
			t.Errorf("%q was never said", body)
		}
	})
}
