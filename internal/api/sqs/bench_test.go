package sqs

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// press is a connection that speaks HTTP/1.1 with as little work as can be: what is measured shall be the door.
type press struct {
	conn net.Conn
	in   *bufio.Reader
	body []byte
}

func newPress(b testing.TB, addr string) *press {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	return &press{conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}
}

// request is a request as it goes over the wire.
func request(action, body string) []byte {
	return fmt.Appendf(nil, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: "+
		"application/x-amz-json-1.0\r\nX-Amz-Target: AmazonSQS.%s\r\nContent-Length: %d\r\n\r\n%s", action, len(body),
		body)
}

// call makes a request and returns the body of the answer, good until the next.
func (p *press) call(req []byte) ([]byte, error) {
	if _, err := p.conn.Write(req); err != nil {
		return nil, err
	}
	status, err := p.in.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	ok := bytes.Contains(status, []byte(" 200 "))
	length := -1
	for {
		line, err := p.in.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		if len(line) == 2 {
			break
		}
		if name, value, _ := bytes.Cut(line, []byte(": ")); bytes.EqualFold(name, []byte("content-length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return nil, err
			}
		}
	}
	if cap(p.body) < length {
		p.body = make([]byte, length)
	}
	p.body = p.body[:length]
	if _, err := io.ReadFull(p.in, p.body); err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("answered %s %s", status, p.body)
	}
	return p.body, nil
}

func benchDoor(b *testing.B) *Server {
	j, err := file.Open(b.Context(), file.Options{Dir: b.TempDir(), Durability: journal.Fsync})
	if err != nil {
		b.Fatal(err)
	}
	s, err := queue.Open(b.Context(),
		queue.Options{Journal: j, Namespaces: map[string][]string{"default": {localAccount}}})
	if err != nil {
		b.Fatal(err)
	}
	d, err := New(Config{Listen: "127.0.0.1:0"}, Options{Store: s, Report: func(err error) { b.Error(err) }})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := d.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = d.Close(b.Context())
		_, _ = s.Close(), j.Close()
	})
	p := newPress(b, d.Addr().String())
	if _, err := p.call(request("CreateQueue", `{"QueueName":"q"}`)); err != nil {
		b.Fatal(err)
	}
	return d
}

// cpuTime is what the process has spent: on a machine that others use, too, it tells more than the clock.
func cpuTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// together runs work on some connections until n calls are done.
func together(b *testing.B, d *Server, connections int, work func(*press) error) {
	var wg sync.WaitGroup
	each := b.N/connections + 1
	presses := make([]*press, connections)
	for i := range presses {
		presses[i] = newPress(b, d.Addr().String())
	}
	b.ResetTimer()
	began, spent := time.Now(), cpuTime(b)
	for _, p := range presses {
		wg.Go(func() {
			for range each {
				if err := work(p); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(each*connections)/time.Since(began).Seconds(), "calls/s")
	b.ReportMetric(float64((cpuTime(b)-spent).Microseconds())/float64(each*connections), "cpu-us/call")
}

const benchURL = `"QueueUrl":"http://localhost/000000000000/q"`

var benchBody = strings.Repeat("x", 1000)

// BenchmarkSend measures sends of 1000 bytes over connections of the usual kind, and over one that net/http serves.
func BenchmarkSend(b *testing.B) {
	usual := request("SendMessage", "{"+benchURL+`,"MessageBody":"`+benchBody+`"}`)
	other := bytes.Replace(usual, []byte("\r\n\r\n"), []byte("\r\nTE: trailers\r\n\r\n"), 1)
	for _, c := range []struct {
		name        string
		connections int
		request     []byte
	}{{"1", 1, usual}, {"16", 16, usual}, {"16-net-http", 16, other}} {
		b.Run(c.name, func(b *testing.B) {
			d := benchDoor(b)
			b.ReportAllocs()
			together(b, d, c.connections, func(p *press) error { _, err := p.call(c.request); return err })
		})
	}
}

func BenchmarkReceiveDelete(b *testing.B) {
	d := benchDoor(b)
	batch := make([]string, 10)
	for i := range batch {
		batch[i] = fmt.Sprintf(`{"Id":"%d","MessageBody":"%s"}`, i, benchBody)
	}
	fill := request("SendMessageBatch", "{"+benchURL+`,"Entries":[`+strings.Join(batch, ",")+"]}")
	p := newPress(b, d.Addr().String())
	for range b.N/10 + 20 {
		if _, err := p.call(fill); err != nil {
			b.Fatal(err)
		}
	}
	receive := request("ReceiveMessage", "{"+benchURL+"}")
	b.ReportAllocs()
	together(b, d, 16, func(p *press) error {
		body, err := p.call(receive)
		if err != nil {
			return err
		}
		_, rest, ok := strings.Cut(string(body), `"ReceiptHandle":"`)
		if !ok {
			return fmt.Errorf("nothing was received: %s", body)
		}
		handle, _, _ := strings.Cut(rest, `"`)
		_, err = p.call(request("DeleteMessage", "{"+benchURL+`,"ReceiptHandle":"`+handle+`"}`))
		return err
	})
}

// BenchmarkHandOff measures how long a message takes from before it is sent until one of 200 waiting long polls has it,
// and beside it how long the send alone takes.
func BenchmarkHandOff(b *testing.B) {
	d := benchDoor(b)
	const polls = 200
	got := make(chan time.Time)
	receive := request("ReceiveMessage", "{"+benchURL+`,"WaitTimeSeconds":20}`)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range polls {
		p := newPress(b, d.Addr().String())
		wg.Go(func() {
			for {
				body, err := p.call(receive)
				at := time.Now()
				if err != nil || len(body) < 10 {
					return
				}
				select {
				case got <- at:
				case <-stop:
					return
				}
			}
		})
	}
	p := newPress(b, d.Addr().String())
	send := request("SendMessage", "{"+benchURL+`,"MessageBody":"`+benchBody+`"}`)
	var handed, sent []time.Duration
	b.ResetTimer()
	for range b.N {
		for {
			if st, err := d.store.Stats(b.Context(), queue.Name{Namespace: "default", Name: "q"}); err != nil ||
				st.Waiters == polls {
				break
			}
			time.Sleep(time.Millisecond)
		}
		began := time.Now()
		if _, err := p.call(send); err != nil {
			b.Fatal(err)
		}
		sent = append(sent, time.Since(began))
		handed = append(handed, (<-got).Sub(began))
	}
	b.StopTimer()
	close(stop)
	_ = d.Close(b.Context())
	wg.Wait()
	slices.Sort(handed)
	slices.Sort(sent)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(handed[len(handed)/2]), "handed-p50-ms")
	b.ReportMetric(ms(handed[len(handed)*99/100]), "handed-p99-ms")
	b.ReportMetric(ms(sent[len(sent)/2]), "sent-p50-ms")
	b.ReportMetric(ms(sent[len(sent)*99/100]), "sent-p99-ms")
}

// BenchmarkFIFO measures receive and delete in a FIFO queue of 100 groups, empty but for what is in use and with a
// backlog behind a group that is stuck.
func BenchmarkFIFO(b *testing.B) {
	for _, backlog := range []int{0, 300_000} {
		b.Run(fmt.Sprint(backlog), func(b *testing.B) {
			d := benchDoor(b)
			p := newPress(b, d.Addr().String())
			n := queue.Name{Namespace: "default", Name: "q.fifo"}
			if _, err := d.store.CreateQueue(b.Context(), n, queue.Definition{Lease: time.Hour}); err != nil {
				b.Fatal(err)
			}
			put := func(count int, key func(int) string) {
				for first := 0; first < count; first += 1000 {
					ms := make([]message.Message, min(1000, count-first))
					for i := range ms {
						ms[i] = message.Message{Body: []byte(benchBody), Key: key(first + i)}
					}
					if _, err := d.store.Put(b.Context(), n, ms); err != nil {
						b.Fatal(err)
					}
				}
			}
			receive := request("ReceiveMessage", `{"QueueUrl":"/000000000000/q.fifo"}`)
			put(max(1, backlog), func(int) string { return "stuck" })
			if _, err := p.call(receive); err != nil {
				b.Fatal(err)
			}
			put(b.N+200, func(i int) string { return fmt.Sprint("g", i%100) })
			together(b, d, 16, func(p *press) error {
				body, err := p.call(receive)
				if err != nil {
					return err
				}
				_, rest, ok := strings.Cut(string(body), `"ReceiptHandle":"`)
				if !ok {
					return fmt.Errorf("nothing was received: %s", body)
				}
				handle, _, _ := strings.Cut(rest, `"`)
				_, err = p.call(request("DeleteMessage", `{"QueueUrl":"/000000000000/q.fifo","ReceiptHandle":"`+handle+
					`"}`))
				return err
			})
		})
	}
}

// BenchmarkTen measures a call of each kind with ten messages: they are sent, received and deleted in batches.
func BenchmarkTen(b *testing.B) {
	d := benchDoor(b)
	batch := make([]string, 10)
	for i := range batch {
		batch[i] = fmt.Sprintf(`{"Id":"%d","MessageBody":"%s"}`, i, benchBody)
	}
	send := request("SendMessageBatch", "{"+benchURL+`,"Entries":[`+strings.Join(batch, ",")+"]}")
	receive := request("ReceiveMessage", "{"+benchURL+`,"MaxNumberOfMessages":10}`)
	b.ReportAllocs()
	together(b, d, 16, func(p *press) error {
		if _, err := p.call(send); err != nil {
			return err
		}
		body, err := p.call(receive)
		if err != nil {
			return err
		}
		var deleted []byte
		for i, rest := 0, string(body); ; i++ {
			_, after, ok := strings.Cut(rest, `"ReceiptHandle":"`)
			if !ok {
				break
			}
			handle, _, _ := strings.Cut(after, `"`)
			deleted = fmt.Appendf(deleted, `,{"Id":"%d","ReceiptHandle":"%s"}`, i, handle)
			rest = after
		}
		if deleted == nil {
			return nil // the others have them
		}
		_, err = p.call(request("DeleteMessageBatch", "{"+benchURL+`,"Entries":[`+string(deleted[1:])+"]}"))
		return err
	})
}
