package s3

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/lines"
	"github.com/hikyaku/hikyaku/internal/message"
)

// object is what is stored of a batch under one key.
type object struct {
	key  string
	of   []int // messages of the batch
	body []byte
}

// objects sorts messages of a batch into objects, in the batch's order. Those that have no place are rejected in out.
func (s *Sink) objects(batch []*message.Message, open []int, out []component.Outcome) (all []*object) {
	slices.Sort(open)
	byPrefix := map[string]*object{}
	for _, i := range open {
		prefix, err := s.key.Render(batch[i], clean)
		if err == nil && len(prefix)+nameBytes > maxKey {
			err = fmt.Errorf("has %d bytes, and names of objects have at most %d", len(prefix)+nameBytes, maxKey)
		}
		if err != nil {
			out[i] = component.Reject(fmt.Errorf("key: %w", err))
			continue
		}
		o := byPrefix[prefix]
		if o == nil {
			o = &object{}
		}
		body, err := s.append(o.body, batch[i])
		if err != nil {
			out[i] = component.Reject(err)
			continue
		}
		o.body, o.of = body, append(o.of, i)
		if byPrefix[prefix] == nil {
			byPrefix[prefix] = o
			o.key = prefix
			all = append(all, o)
		}
	}
	for _, o := range all {
		if s.config.Payload == array {
			o.body = append(o.body, ']')
		}
		o.key += s.name(batch, o)
	}
	return all
}

// append appends one message to an object.
func (s *Sink) append(body []byte, m *message.Message) ([]byte, error) {
	if s.config.Payload != array {
		body, err := s.encoder.Append(body, m)
		return append(body, '\n'), err
	}
	if len(body) == 0 {
		return s.encoder.Append([]byte{'['}, m)
	}
	return s.encoder.Append(append(body, ','), m)
}

// nameBytes is more than the longest name.
const nameBytes = 64

// name is the end of an object's key: the time of its first message, so that names sort, and what tells it apart from
// all others, computed from what is in it.
func (s *Sink) name(batch []*message.Message, o *object) string {
	h := sha256.New()
	for _, i := range o.of {
		h.Write(batch[i].ID[:])
	}
	h.Write(o.body)
	name := batch[o.of[0]].Time.UTC().Format("20060102T150405.000Z") + "-" + hex.EncodeToString(h.Sum(nil)[:8])
	switch {
	case s.config.Payload == array:
		name += ".json"
	case s.encoder.Codec() == lines.Text:
		name += ".log"
	default:
		name += ".ndjson"
	}
	return name + map[string]string{"gzip": ".gz", "zstd": ".zst"}[s.config.Compression]
}

// pack compresses an object.
func (s *Sink) pack(body []byte) ([]byte, error) {
	switch s.config.Compression {
	case "gzip":
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write(body); err != nil {
			return nil, err
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		return b.Bytes(), nil
	case "zstd":
		w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		return w.EncodeAll(body, nil), nil
	}
	return body, nil
}
