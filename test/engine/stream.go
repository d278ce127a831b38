package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	stream  = "L"
	subject = "log"
	patient = time.Minute // how long a healed cluster may take before it counts as stuck
)

func connect(nd *node, options ...nats.Option) (*nats.Conn, error) {
	return nats.Connect("nats://"+nd.ip+":4222", append([]nats.Option{nats.Timeout(time.Second), nats.NoReconnect(),
		nats.PingInterval(time.Second)}, options...)...)
}

// api asks JetStream, and fails with what it answers as an error.
func api(nc *nats.Conn, name string, ask, answer any) error {
	body, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	m, err := nc.Request("$JS.API."+name, body, 3*time.Second)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var failed struct {
		Error *struct {
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(m.Data, &failed); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if failed.Error != nil {
		return fmt.Errorf("%s: %s", name, failed.Error.Description)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(m.Data, answer)
}

// create makes the stream with three replicas as soon as the cluster has a leader.
func (c *cluster) create() error {
	conf := map[string]any{"name": stream, "subjects": []string{subject}, "storage": "file", "num_replicas": 3,
		"allow_direct": true, "retention": "limits", "discard": "new", "duplicate_window": int64(time.Second)}
	var err error
	for end := time.Now().Add(patient); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		var nc *nats.Conn
		if nc, err = connect(c.nodes[0]); err != nil {
			continue
		}
		err = api(nc, "STREAM.CREATE."+stream, conf, nil)
		nc.Close()
		if err == nil {
			return nil
		}
	}
	return fmt.Errorf("no stream: %w", err)
}

// A writer publishes records, each fenced by the sequence that it has to follow, a window of them at a time.
type writer struct {
	c      *cluster
	led    *ledger
	window int
	pause  time.Duration // between two records
	number func() uint64
	answer func(took time.Duration) // told of each acknowledgement; may be nil
}

// write opens the log again and again: at any node, behind the last record that the stream's leader knows. After a
// refusal it lets the other writer go on for a while.
func (w *writer) write(ctx context.Context, r *rand.Rand) {
	for ctx.Err() == nil {
		if nc, err := connect(w.c.nodes[r.IntN(len(w.c.nodes))]); err == nil {
			err = w.open(ctx, nc)
			nc.Close()
			if errors.Is(err, errFenced) {
				wait(ctx, time.Duration(r.IntN(1500))*time.Millisecond)
			}
		}
		wait(ctx, 50*time.Millisecond)
	}
}

var errFenced = errors.New("another writer was faster")

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func (w *writer) open(ctx context.Context, nc *nats.Conn) error {
	var info struct {
		State struct {
			Last uint64 `json:"last_seq"`
		} `json:"state"`
	}
	if err := api(nc, "STREAM.INFO."+stream, nil, &info); err != nil {
		return err
	}
	inbox := nats.NewInbox()
	answers := make(chan *nats.Msg, 4*w.window)
	if _, err := nc.ChanSubscribe(inbox+".*", answers); err != nil {
		return err
	}
	sent := map[uint64]time.Time{}
	overdue := time.NewTicker(200 * time.Millisecond)
	defer overdue.Stop()
	for next := info.State.Last + 1; ; {
		for ; len(sent) < w.window && ctx.Err() == nil; next++ {
			n := w.number()
			m := &nats.Msg{Subject: subject, Reply: inbox + "." + strconv.FormatUint(n, 10), Data: contents(n, next),
				Header: nats.Header{"Nats-Expected-Last-Sequence": {strconv.FormatUint(next-1, 10)}}}
			w.led.try(n, next)
			sent[n] = time.Now()
			if err := nc.PublishMsg(m); err != nil {
				return err
			}
			if w.pause > 0 {
				time.Sleep(w.pause)
			}
		}
		if len(sent) == 0 {
			return ctx.Err()
		}
		select {
		case m := <-answers:
			n, _ := strconv.ParseUint(m.Subject[strings.LastIndexByte(m.Subject, '.')+1:], 10, 64)
			var ack struct {
				Seq       uint64 `json:"seq"`
				Duplicate bool   `json:"duplicate"`
				Error     *struct {
					Code int `json:"err_code"`
				} `json:"error"`
			}
			if len(m.Data) == 0 || json.Unmarshal(m.Data, &ack) != nil {
				return errors.New("nobody answers")
			}
			if ack.Error != nil {
				if ack.Error.Code == 10071 {
					return errFenced
				}
				return fmt.Errorf("error %d", ack.Error.Code)
			}
			w.led.ack(n, ack.Seq)
			if w.answer != nil {
				w.answer(time.Since(sent[n]))
			}
			delete(sent, n)
		case <-overdue.C:
			for _, at := range sent {
				if time.Since(at) > 3*time.Second {
					return errors.New("no answer in time")
				}
			}
			if nc.IsClosed() {
				return nats.ErrConnectionClosed
			}
		}
	}
}

// settled waits until there is a leader and its three replicas say that they hold as much.
func (c *cluster) settled() (leader string, replicas []string, ok bool) {
	for end := time.Now().Add(patient); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		leader, replicas = "", nil
		views := map[string]view{}
		for _, nd := range c.nodes {
			if v, err := nd.look(); err == nil && v.held {
				views[nd.name] = v
			}
		}
		for name, v := range views {
			if v.leader == name && len(v.replicas) >= len(replicas) { // one that is cut off may call itself a leader
				leader, replicas = name, v.replicas
			}
		}
		if leader == "" || len(replicas) != 3 {
			continue
		}
		equal := true
		for _, name := range replicas {
			v, is := views[name]
			equal = equal && is && v.last == views[leader].last && v.leader == leader
		}
		if equal {
			return leader, replicas, true
		}
	}
	return leader, replicas, false
}

// read reads one node's replica while no node can speak to another, so that nobody else can answer in its place.
func (c *cluster) read(nd *node) (map[uint64]record, error) {
	nc, err := connect(nd)
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	held, from := map[uint64]record{}, uint64(1)
	for tries := 0; ; {
		inbox := nats.NewInbox()
		sub, err := nc.SubscribeSync(inbox)
		if err != nil {
			return nil, err
		}
		ask := fmt.Sprintf(`{"seq":%d,"batch":1000,"max_bytes":4000000}`, from)
		if err := nc.PublishRequest("$JS.API.DIRECT.GET."+stream, inbox, []byte(ask)); err != nil {
			return nil, err
		}
		for {
			m, err := sub.NextMsg(300 * time.Millisecond)
			if err == nil && m.Header.Get("Status") == "" {
				seq, _ := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
				held[seq] = parse(m.Data)
				from = max(from, seq+1)
				tries = 0
				continue
			}
			if err == nil && m.Header.Get("Status") == "404" { // nothing from there on
				return held, nil
			}
			if err == nil && m.Header.Get("Status") == "204" {
				if m.Header.Get("Nats-Num-Pending") == "0" {
					return held, nil
				}
				break
			}
			if tries++; tries > 50 { // the server may still hand the question to a node that it cannot reach
				if err == nil {
					err = fmt.Errorf("status %s %s", m.Header.Get("Status"), m.Header.Get("Description"))
				}
				return held, fmt.Errorf("reading %s from %d: %w", nd.name, from, err)
			}
			break
		}
		_ = sub.Unsubscribe()
	}
}
