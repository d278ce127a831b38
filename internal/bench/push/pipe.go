package push

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/machine"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/push/figure"
)

// pushTrial is what servePipeline is told in a line.
type pushTrial struct {
	Messages int `json:"messages"` // that come to the queue
	Users    int `json:"users"`    // of each
}

// pipelineConfig is our sender as anybody would configure it: a durable queue of messages with several users each, a
// program that makes a push for each user, and the sink.
const pipelineConfig = `
queues:
  measured: { max_attempts: 0 }
sources:
  waiting: { type: queue, queue: measured, lease: 5m }
transforms:
  each:
    type: jq
    inputs: [waiting]
    program: '.users[]'
    attributes: '{token, collapse_id: "user-\(.id)"}'
sinks:
  phones:
    type: apns
    inputs: [each]
    apps:
      com.example.news: { endpoint: "${PUSH_ADDR}", ca_file: "${PUSH_CA}", team: TEAM123456, key_id: KEY1234567, key_file: "${PUSH_SIGNER}" }
    payload: '{aps: {alert: "test for \(.id)"}}'
    priority: 10
    connections: ${PUSH_CONNECTIONS}
`

// directConfig pushes messages that are pushes already, one each.
const directConfig = `
queues:
  measured: { max_attempts: 0 }
  phones_dead: {}
sources:
  waiting: { type: queue, queue: measured, lease: 5m }
sinks:
  phones:
    type: apns
    inputs: [waiting]
    apps:
      com.example.news: { endpoint: "${PUSH_ADDR}", ca_file: "${PUSH_CA}", team: TEAM123456, key_id: KEY1234567, key_file: "${PUSH_SIGNER}" }
    priority: 10
    connections: ${PUSH_CONNECTIONS}
`

// servePipeline runs a store and a pipeline for as long as in does, and puts messages into the queue for each trial;
// with direct it fills the queue, and then runs a pipeline until the queue is empty.
func (f *pushFlags) servePipeline(ctx context.Context, in io.Reader, out io.Writer) (err error) {
	h, err := f.openPushHouse(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.rig.Close()) }()
	write := json.NewEncoder(out)
	trial := func(ctx context.Context, t pushTrial) (any, error) { return h.drain(ctx, t) }
	if f.kind != kindDirect {
		r, err := h.runPipeline(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		trial = func(ctx context.Context, t pushTrial) (any, error) {
			switch f.kind {
			case kindCampaign:
				return r.campaign(ctx, t.Users)
			case kindPosted:
				return r.trial(ctx, t, func() error { return write.Encode(ready{true}) })
			default:
				return r.trial(ctx, t, func() error { return h.put(ctx, t, workMessage) })
			}
		}
	}
	if f.kind == kindPosted {
		d, addr, err := openSQSDoor(ctx, h.rig.Store)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, harness.CloseDoor(ctx, d)) }()
		if err := write.Encode(harness.Served{Addr: addr.String()}); err != nil {
			return err
		}
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var t pushTrial
		if err := json.Unmarshal(lines.Bytes(), &t); err != nil {
			return err
		}
		took, err := trial(ctx, t)
		if err == nil && f.receipts {
			err = h.forgetReceipts(ctx, t)
		}
		if err != nil {
			return err
		}
		if err := write.Encode(took); err != nil {
			return err
		}
	}
	return lines.Err()
}

// pushHouse is a store and what a pipeline over it is made from.
type pushHouse struct {
	rig  *harness.Rig
	file *config.File
}

func (f *pushFlags) openPushHouse(ctx context.Context) (*pushHouse, error) {
	text := map[string]string{kindDirect: directConfig, kindPipeline: pipelineConfig, kindPosted: pipelineConfig,
		kindCampaign: campaignConfig}[f.kind]
	if f.receipts {
		text = strings.Replace(text, "queues:\n", "queues:\n  receipts: {}\n", 1) + "    receipts: receipts\n"
	}
	values := map[string]string{"PUSH_ADDR": f.addr, "PUSH_CA": f.ca, "PUSH_SIGNER": f.signer, "PUSH_USERS": f.users,
		"PUSH_CONNECTIONS": strconv.Itoa(f.connections)}
	c, err := config.Parse("push.yaml", []byte(text), func(name string) (string, bool) {
		v, ok := values[name]
		return v, ok
	})
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return nil, err
	}
	r, err := harness.OpenRig(ctx, filepath.Join(f.dir, "journal"), harness.Setting{})
	if err != nil {
		return nil, err
	}
	if err := c.Define(ctx, r.Store, false); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return &pushHouse{r, c}, nil
}

// pipeline makes one, whose sink notes when each push was answered.
func (h *pushHouse) pipeline(finite bool, observe pipeline.Observer) (*pipeline.Pipeline, *timedSink, error) {
	built, err := h.file.Build(h.rig.Store, component.Env{})
	if err != nil {
		return nil, nil, err
	}
	timed := new(timedSink)
	for i := range built.Nodes {
		if sink, ok := built.Nodes[i].Sink.(component.AsyncSink); ok {
			timed.AsyncSink = sink
			built.Nodes[i].Sink = timed
		}
	}
	p, err := pipeline.New(built.Nodes, pipeline.Options{Store: h.rig.Store, Observe: observe, Finite: finite})
	return p, timed, err
}

// put puts a trial's messages, with users from 1.
func (h *pushHouse) put(ctx context.Context, t pushTrial, made func(first, users int) message.Message) error {
	group := make([]message.Message, 0, harness.FillGroup)
	for i := range t.Messages {
		group = append(group, made(i*t.Users+1, t.Users))
		if len(group) == harness.FillGroup || i == t.Messages-1 {
			if _, err := h.rig.Store.Put(ctx, harness.Measured, group); err != nil {
				return err
			}
			group = group[:0]
		}
	}
	return nil
}

// drain puts messages of a push each, and then runs a pipeline until all are pushed and durably settled.
func (h *pushHouse) drain(ctx context.Context, t pushTrial) (took pushed, err error) {
	if err := h.put(ctx, t, directMessage); err != nil {
		return took, err
	}
	p, sink, err := h.pipeline(true, nil)
	if err != nil {
		return took, err
	}
	sink.begin(t.Messages)
	syncs := h.rig.Journal.Stats().Syncs
	cpu, start := machine.ProcessorTime(), time.Now()
	if _, err := p.Run(ctx); err != nil {
		return took, err
	}
	took = pushed{N: t.Messages, ElapsedUS: time.Since(start).Microseconds(),
		CPUUS: (machine.ProcessorTime() - cpu).Microseconds(), Syncs: h.rig.Journal.Stats().Syncs - syncs}
	_, took.Failed = sink.end()
	if t, ok := sink.AsyncSink.(figure.Teller); ok {
		took.Dead = t.Figures().Dead
	}
	return took, nil
}

// runningPipeline is one that is there before its messages.
type runningPipeline struct {
	house *pushHouse
	sink  *timedSink
	seen  *settledCounter
	stop  context.CancelFunc
	ended chan struct{} // err can be read
	err   error
}

func (h *pushHouse) runPipeline(ctx context.Context) (*runningPipeline, error) {
	r := &runningPipeline{house: h, seen: new(settledCounter), ended: make(chan struct{})}
	p, sink, err := h.pipeline(false, r.seen)
	if err != nil {
		return nil, err
	}
	r.sink = sink
	ctx, r.stop = context.WithCancel(ctx)
	go func() {
		defer close(r.ended)
		_, r.err = p.Run(ctx)
	}()
	return r, nil
}

// Close stops the pipeline.
func (r *runningPipeline) Close() error {
	r.stop()
	<-r.ended
	if errors.Is(r.err, context.Canceled) {
		return nil
	}
	return r.err
}

// trial lets messages come and waits until each user's push was answered and everything is settled.
func (r *runningPipeline) trial(ctx context.Context, t pushTrial, come func() error) (took pushed, err error) {
	n := t.Messages * t.Users
	answered, settled := r.sink.begin(n), r.seen.begin(n)
	cpu, start := machine.ProcessorTime(), time.Now()
	if err := come(); err != nil {
		return took, err
	}
	for _, done := range []<-chan struct{}{answered, settled} {
		select {
		case <-done:
		case <-r.ended:
			return took, fmt.Errorf("the pipeline ended: %w", r.err)
		case <-ctx.Done():
			return took, ctx.Err()
		}
	}
	took = pushed{N: n, ElapsedUS: time.Since(start).Microseconds(),
		CPUUS: (machine.ProcessorTime() - cpu).Microseconds()}
	took.TimesUS, took.Failed = r.sink.end()
	took.OwnUS = r.sink.ended()
	return took, nil
}

// directMessage is a push to one user.
func directMessage(user, _ int) message.Message {
	m := message.Message{Body: pushPayload(user)}
	m.Attributes.Set("token", message.String(deviceToken(user)))
	return m
}

// workMessage is a queue's message with so many users.
func workMessage(first, users int) message.Message {
	type user struct {
		ID    int    `json:"id"`
		Token string `json:"token"`
	}
	var w struct {
		Users []user `json:"users"`
	}
	for i := range users {
		w.Users = append(w.Users, user{first + i, deviceToken(first + i)})
	}
	text, _ := json.Marshal(w) // numbers and letters
	return message.Message{Body: text}
}
