package fanout

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/batch"
	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/fetch"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Fanout makes many messages of one. It may be used by several goroutines at once.
type Fanout struct {
	config  Config
	origin  string // Origin.Source of items; "" where nothing is remembered
	room    string // of notes
	source  source
	memory  memory // nil: nothing is remembered
	orders  orders
	settles *batch.Grouper[end]

	mu      sync.Mutex
	labels  labels
	runs    map[string]*run
	left    map[string]bool // runs that have notes and are not in runs
	over    map[string]bool // runs of which everything was settled
	overs   []string        // the oldest first
	resting []string        // runs that are kept in memory alone, the oldest first
	failed  error
}

// New checks the settings. Errors are *component.SettingError.
func New(c Config, env component.Env) (component.StreamTransform, error) {
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return nil, err
	}
	t := &Fanout{config: c, runs: map[string]*run{}, left: map[string]bool{}, over: map[string]bool{},
		room: "transform/fanout/" + env.Name}
	var err error
	if t.source, err = newSource(&t.config, env); err != nil {
		return nil, err
	}
	if env.Store != nil && (c.Remember == nil || *c.Remember) {
		t.memory = env.Store
		t.origin = "fanout " + env.Name
	}
	t.orders = orders{env.Campaigns, env.Name}
	t.labels.load(nil)
	return t, nil
}

// Start reads what is remembered, and lets the source look whether it understands the question.
func (t *Fanout) Start(ctx context.Context) error {
	if err := t.source.start(ctx); err != nil {
		return err
	}
	if t.memory != nil {
		if err := t.load(ctx, time.Now()); err != nil {
			return err
		}
	}
	t.settles = batch.New(batch.Config[end]{MaxCount: maxSettles, Pending: pendingSettles, Handle: t.keepEnds})
	return nil
}

// load reads which runs were left and which are over. Those whose message never came again are forgotten.
func (t *Fanout) load(ctx context.Context, now time.Time) error {
	type finish struct {
		run string
		at  int64
	}
	var finishes []finish
	var old []queue.Note
	notes, err := t.memory.Notes(ctx, t.room)
	if err != nil {
		return err
	}
	dead := map[string]bool{}
	for _, n := range notes {
		if run, kind, _, ok := readKey(n.Key); ok && kind == noteBegan {
			var b began
			if err := json.Unmarshal(n.Value, &b); err != nil {
				return fmt.Errorf("%w: %w", errBadNote, err)
			}
			dead[run] = now.Sub(time.Unix(b.At, 0)) > stale
		}
	}
	settled := map[string]bool{} // pages
	for _, n := range notes {
		if run, kind, number, ok := readKey(n.Key); ok && kind == noteDone && len(n.Value) == 0 {
			settled[noteKey(run, notePage, number)] = true
		}
	}
	for _, n := range notes {
		run, kind, number, ok := readKey(n.Key)
		switch {
		case n.Key == noteLabels:
			open := t.labels.open
			t.labels.load(n.Value)
			t.labels.open = open
		case !ok:
		case kind == noteOver:
			finishes = append(finishes, finish{run, readOver(n.Value)})
		case dead[run]:
			old = append(old, queue.Note{Room: t.room, Key: n.Key})
		case kind == notePage:
			p, err := decodePage(number, n.Value)
			if err != nil {
				return err
			}
			if !settled[n.Key] {
				t.labels.reopen(p.label)
			}
			t.left[run] = true
		default:
			t.left[run] = true
		}
	}
	slices.SortFunc(finishes, func(a, b finish) int { return cmp.Compare(a.at, b.at) })
	for _, f := range finishes {
		t.over[f.run] = true
		t.overs = append(t.overs, f.run)
	}
	if len(old) == 0 {
		return nil
	}
	return t.memory.KeepNotes(ctx, old...)
}

func overValue(at time.Time) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(at.UnixMicro()))
}

func readOver(b []byte) int64 {
	if len(b) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}

// Close keeps the last settlements and lets go of the source.
func (t *Fanout) Close() error {
	var err error
	if t.settles != nil {
		err = t.settles.Close()
	}
	t.mu.Lock()
	failed := t.failed
	t.mu.Unlock()
	return errors.Join(err, failed, t.source.close())
}

// Stream makes the messages of one.
func (t *Fanout) Stream(ctx context.Context, d component.Delivery, out component.Out) error {
	r, over, err := t.join(ctx, d)
	if err != nil {
		return err
	}
	if over {
		d.Settle(component.OK(time.Time{}))
		return nil
	}
	err = t.pages(ctx, d.Message, r, func(items []item) error {
		if err := t.orders.check(r.campaign); err != nil {
			return err
		}
		return t.take(ctx, r, d.Message, items, out)
	})
	if err != nil && !errors.Is(err, errCancelled) {
		t.leave(r)
		t.orders.trouble(r.campaign, err)
		return err
	}
	t.ended(r, d.Settle)
	return nil
}

// pages gives the items that a message is to be made into to take: its own, or the source's.
func (t *Fanout) pages(ctx context.Context, m *message.Message, r *run, take func([]item) error) error {
	if err := t.orders.check(r.campaign); err != nil {
		return err
	}
	rows, given, err := t.orders.rows(r.campaign, m)
	switch {
	case err != nil:
		return err
	case given:
		return t.config.list(rows, r.position, take)
	}
	return t.source.pages(ctx, m, r.position, take)
}

// runID names what is made of a message: the same each time that it comes. A message that was in a queue keeps its id,
// wherever it is replayed to; one that is read from a file has a new one each time, and an Origin.
func runID(d component.Delivery) string {
	m := d.Message
	h := sha256.New()
	if d.Queue == "" && m.Origin.Source != "" {
		fmt.Fprintf(h, "%s\x00%d\x00%d\x00%d", m.Origin.Source, m.Origin.Offset, m.Origin.Part, d.Way)
	} else {
		fmt.Fprintf(h, "%s\x00%d", m.ID, d.Way)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// name is the text that tells an item from the others of its run. index is its place in its page.
func (t *Fanout) name(r *run, it *item, index int) (string, error) {
	if t.config.Key == "" {
		return strconv.FormatUint(r.count+uint64(index), 10), nil
	}
	if it.row == nil {
		return "", fmt.Errorf("an item is no object, and has no %s", t.config.Key)
	}
	text, ok := it.row.Get(t.config.Key)
	if !ok {
		return "", fmt.Errorf("an item has no %s; it has %s", t.config.Key, it.row.Names())
	}
	v, ok := fetch.Scalar(text)
	if !ok || v.IsNull() {
		return "", fmt.Errorf("the %s of an item is %.100s: a text or number is wanted", t.config.Key, text)
	}
	return v.Text(), nil
}

// identity is what is remembered of an item.
func (t *Fanout) identity(r *run, it *item, index int) (id uint64, name string, err error) {
	if name, err = t.name(r, it, index); err != nil {
		return 0, "", err
	}
	sum := sha256.Sum256([]byte(r.id + "\x00" + name))
	return binary.BigEndian.Uint64(sum[:]), name, nil
}

// make makes the message of an item.
func (t *Fanout) make(r *run, parent *message.Message, it *item, at place) (*message.Message, error) {
	m := parent.Clone()
	if r.campaign != "" {
		m.Attributes.Delete(campaign.Rows)
	}
	m.Row, m.Key, m.Death, m.Only = nil, "", nil, ""
	m.Body = it.json
	if t.config.Into != "" {
		body, err := fetch.ParseObject(parent.Body)
		if err != nil {
			return nil, fmt.Errorf("into puts items into a JSON object, and the body %w", err)
		}
		if t.config.Source.Type == "body" {
			if path := split(t.config.Source.Items); len(path) > 0 {
				body = body.Without(path[0]) // else each item would carry all of them
			}
		}
		m.Body = body.Set(t.config.Into, it.json).AppendJSON(nil)
	}
	for _, name := range t.config.Attributes {
		text, _ := it.row.Get(name)
		v, ok := fetch.Scalar(text)
		if !ok {
			return nil, fmt.Errorf("an item has no %s that could be an attribute; it has %s", name, it.row.Names())
		}
		m.Attributes.Set(name, v)
	}
	if t.config.OrderKey != "" {
		text, _ := it.row.Get(t.config.OrderKey)
		v, ok := fetch.Scalar(text)
		if !ok {
			return nil, fmt.Errorf("an item has no %s that could be a key; it has %s", t.config.OrderKey,
				it.row.Names())
		}
		m.Key = v.Text()
	}
	part := at.page.items[at.at]
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(parent.ID[:], part))
	copy(m.ID[:], sum[:])
	m.ID[6] = m.ID[6]&0x0f | 0x80 // version 8 of RFC 9562: made by a rule of one's own
	m.ID[8] = m.ID[8]&0x3f | 0x80
	m.Origin.Part = part
	if t.origin != "" {
		t.mu.Lock()
		m.Origin = message.Origin{Source: t.origin, Offset: at.page.label, Part: part, Mark: t.labels.mark()}
		t.mu.Unlock()
		m.Dedup = ""
	} else if m.Dedup != "" {
		m.Dedup += "~" + strconv.FormatUint(part, 16)
	}
	return m, nil
}

func sortPages(pages []*page) {
	slices.SortFunc(pages, func(a, b *page) int { return cmp.Compare(a.number, b.number) })
}
