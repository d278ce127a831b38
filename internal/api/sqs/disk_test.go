package sqs

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	client "github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// onDisk opens a store over a disk that breaks on demand, with every promise of durability, and returns what closes it
// whatever state it is in.
func onDisk(t *testing.T, disk *faultfs.Disk) (*queue.Store, func() error) {
	t.Helper()
	j, err := file.Open(t.Context(), file.Options{Dir: "log", FS: disk, SegmentBytes: 256 << 10,
		MaxGroupBytes: 128 << 10})
	if err != nil {
		t.Fatal(err)
	}
	s, err := queue.Open(t.Context(),
		queue.Options{Journal: j, Namespaces: map[string][]string{"default": {localAccount}}})
	if err != nil {
		t.Fatal(err)
	}
	return s, func() error { return errors.Join(s.Close(), j.Close()) }
}

func TestAFullDiskRefusesSendsAndLetsDeletesMakeRoom(t *testing.T) {
	disk := faultfs.New()
	s, stop := onDisk(t, disk)
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	r := newRigOver(t, Config{}, nil, s, new(fakeClock))
	url := r.queue("news")
	disk.Limit(2 << 20)
	body, sent := strings.Repeat("x", 50_000), 0
	for ; ; sent++ {
		_, err := r.client.SendMessage(t.Context(), &client.SendMessageInput{QueueUrl: &url, MessageBody: &body})
		if err != nil {
			wantCode(t, err, "ServiceUnavailable")
			break
		}
		if sent > 100 {
			t.Fatal("the disk never runs full")
		}
	}
	deleted := 0
	for {
		ms := r.receive(url, 10)
		if len(ms) == 0 {
			break
		}
		for _, m := range ms {
			if err := r.delete(url, m); err != nil {
				t.Fatal(err)
			}
			deleted++
		}
	}
	if deleted != sent {
		t.Errorf("%d were sent, %d received", sent, deleted)
	}
	disk.Limit(16 << 20)
	r.send(url, body)
}

func TestWhatWasAnsweredSurvivesAPowerCut(t *testing.T) {
	answered := 0
	for seed := range uint64(5) {
		random := rand.New(rand.NewPCG(seed, 1))
		disk := faultfs.New()
		s, stop := onDisk(t, disk)
		d, err := New(Config{Listen: "127.0.0.1:0"}, Options{Store: s})
		if err != nil {
			t.Fatal(err)
		}
		addr, err := d.Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r := &rig{t: t, store: s, door: d, base: "http://" + addr.String(), clock: new(fakeClock), web: newWeb()}
		r.client = r.as("key", "secret")
		url := r.queue("jobs.fifo", "ContentBasedDeduplication", "true")
		disk.CutAfter(1 + random.IntN(300))
		var mu sync.Mutex
		sent, gone := map[string]bool{}, map[string]bool{}
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				for i := range 100 {
					out, err := r.client.SendMessage(t.Context(),
						&client.SendMessageInput{QueueUrl: &url, MessageBody: ptr(fmt.Sprint(g, "/", i)),
							MessageGroupId: ptr(fmt.Sprint(g))})
					if err != nil {
						return
					}
					mu.Lock()
					sent[*out.MessageId] = true
					mu.Unlock()
					if i%3 != 0 {
						continue
					}
					got, err := r.client.ReceiveMessage(t.Context(), &client.ReceiveMessageInput{QueueUrl: &url})
					if err != nil {
						return
					}
					for _, m := range got.Messages {
						if r.delete(url, m) != nil {
							mu.Lock()
							delete(sent, *m.MessageId) // it may be gone or not
							mu.Unlock()
							return
						}
						mu.Lock()
						gone[*m.MessageId] = true
						mu.Unlock()
					}
				}
			})
		}
		wg.Wait()
		disk.Cut()
		r.close()
		_ = stop() // nothing reaches the disk any more
		s, stop = onDisk(t, disk.AfterPowerCut(random))
		peeked, err := s.Peek(t.Context(), queue.Name{Namespace: "default", Name: "jobs.fifo"},
			queue.PeekRequest{Max: 1000})
		if err != nil {
			t.Fatal(err)
		}
		there := map[string]bool{}
		for _, p := range peeked {
			there[p.Message.ID.String()] = true
		}
		for id := range sent {
			if !gone[id] && !there[id] {
				t.Errorf("seed %d: %s was answered and is lost", seed, id)
			}
		}
		for id := range gone {
			if there[id] {
				t.Errorf("seed %d: %s was deleted and is there again", seed, id)
			}
		}
		answered += len(sent) // of one seed: none, when the disk's own work came first
		if err := stop(); err != nil {
			t.Error(err)
		}
	}
	if answered == 0 {
		t.Error("nothing was sent")
	}
}

func TestErrorsOfTheStoreHaveTheirCounterparts(t *testing.T) {
	d := &Server{report: func(error) {}}
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{queue.ErrNotFound, 400, "AWS.SimpleQueueService.NonExistentQueue"},
		{&queue.FullError{}, 403, "RequestThrottled"}, {queue.ErrTooManyWaiters, 403, "RequestThrottled"},
		{queue.ErrNoRoom, 503, "ServiceUnavailable"}, {queue.ErrUnavailable, 503, "ServiceUnavailable"},
		{queue.ErrClosed, 503, "ServiceUnavailable"}, {queue.ErrRefused, 503, "ServiceUnavailable"},
		{queue.ErrMismatch, 400, "InvalidParameterValue"}, {errors.New("a defect"), 500, "InternalError"},
	} {
		e := d.wireError(fmt.Errorf("wrapped: %w", c.err))
		if e.Status != c.status || e.Code != c.code {
			t.Errorf("%v is told as %d %s, not %d %s", c.err, e.Status, e.Code, c.status, c.code)
		}
		if (e.Status >= 500) != e.Receiver {
			t.Errorf("%v: whose fault is it?", c.err)
		}
	}
}
