// Package file is a sink that appends messages to a file, a line each.
//
//	sinks:
//	  archive: { type: file, inputs: [shape], path: out.ndjson, encoding: { codec: json } }
//
// A batch is one write and, unless sync is none, one sync: what is answered as delivered is on the disk. A batch that
// could not be written whole is cut off again and tried again, so the file always ends with a whole line; what a kill
// left of a line is cut off when the sink starts, and kept beside the file under the ending ".torn".
//
// When the file was renamed or deleted (logrotate), the next batch goes to a new file of the name.
//
// It is not for files that others write to at the same time.
package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/durable"
	"github.com/hikyaku/hikyaku/internal/lines"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Config is the sink's settings.
type Config struct {
	// Path of the file. Folders that are missing are made.
	Path string `yaml:"path"`
	// Encoding of a message. Not set: its body as it is.
	Encoding lines.Encoding `yaml:"encoding"`
	// Sync is "batch" (the disk has a message before it counts as delivered) or "none". "": batch.
	Sync string `yaml:"sync" oneof:"batch none"`
}

// Sink appends to a file.
type Sink struct {
	path    string
	encoder *lines.Encoder
	synced  bool

	// Of the one Send at a time.
	file    *os.File
	info    os.FileInfo // of file
	regular bool
	good    int64 // when torn: where the last whole line ends
	torn    bool  // a batch could not be cut off again
	buf     []byte

	mu      sync.Mutex
	notices []string
}

// New checks the settings.
func New(c Config, _ component.Env) (component.Sink, error) {
	if c.Path == "" {
		return nil, component.Setting("path", errors.New("is missing: name the file to append to"))
	}
	encoder, err := lines.NewEncoder(c.Encoding)
	if err != nil {
		return nil, component.Setting("encoding.codec", err)
	}
	switch c.Sync {
	case "", "batch", "none":
	default:
		return nil, component.Setting("sync", fmt.Errorf(`%q is neither "batch" nor "none"`, c.Sync))
	}
	return &Sink{path: c.Path, encoder: encoder, synced: c.Sync != "none"}, nil
}

// Limits: one batch after the other, so the file keeps their order.
func (s *Sink) Limits() component.SinkLimits { return component.SinkLimits{Concurrency: 1} }

// Start makes the file, and cuts off a line that a kill left unfinished.
func (s *Sink) Start(context.Context) error {
	if err := s.open(); err != nil {
		return err
	}
	if !s.regular {
		return nil
	}
	cut, err := trim(s.file, s.path+".torn")
	if err != nil {
		return fmt.Errorf("%s: the unfinished last line could not be cut off: %w", s.path, err)
	}
	if cut > 0 {
		s.notice(fmt.Sprintf("%s: cut off %d bytes of an unfinished last line; they are kept in %s.torn", s.path, cut,
			s.path))
	}
	return nil
}

// Notices tells what a person should know.
func (s *Sink) Notices() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.notices...)
}

func (s *Sink) notice(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notices = append(s.notices, text)
}

// Send appends the batch as one write.
func (s *Sink) Send(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := make([]component.Outcome, len(batch))
	s.buf = s.buf[:0]
	for i, m := range batch {
		b, err := s.encoder.Append(s.buf, m)
		if err != nil {
			out[i] = component.Reject(err)
			continue
		}
		s.buf = append(b, '\n')
	}
	err := s.append(s.buf)
	if cap(s.buf) > keepBytes {
		s.buf = nil
	}
	now := time.Now()
	for i := range out {
		switch {
		case out[i].Verdict == component.Rejected:
		case err != nil:
			out[i] = component.Again(0, err)
		default:
			out[i] = component.OK(now)
		}
	}
	return out, nil
}

// keepBytes is the largest buffer that is kept from batch to batch.
const keepBytes = 4 << 20

// Close syncs and lets go of the file.
func (s *Sink) Close() error {
	if s.file == nil {
		return nil
	}
	var err error
	if s.regular && s.synced {
		err = s.file.Sync()
	}
	err = errors.Join(err, s.file.Close())
	s.file = nil
	if err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	return nil
}

// open opens the file, making it and its folders where they are missing.
func (s *Sink) open() error {
	made := missing(s.path)
	if err := os.MkdirAll(filepath.Dir(s.path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if errors.Is(err, os.ErrPermission) || errors.Is(err, os.ErrInvalid) {
		f, err = os.OpenFile(s.path, os.O_WRONLY|os.O_APPEND, 0o644) // a device or pipe that cannot be read
	}
	if err != nil {
		return err
	}
	info, err := f.Stat()
	for i := 0; i < len(made) && err == nil && s.synced; i++ {
		err = durable.SyncDir(filepath.Dir(made[i]))
	}
	if err != nil {
		f.Close() // nothing was written
		return fmt.Errorf("%s: %w", s.path, err)
	}
	s.file, s.info, s.regular = f, info, info.Mode().IsRegular()
	return nil
}
