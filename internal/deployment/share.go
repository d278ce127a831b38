package deployment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/link"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Nodes of a cluster have one store and a folder for archives each. An archive is on most nodes before anything names
// it, and one that a node has not got is fetched from one that has, when it is needed or after a start. It is known by
// its checksum, so that nobody has to be believed.

// SharedOptions say with whom archives are shared.
type SharedOptions struct {
	Link  *link.Listener
	Peers func() []link.Peer // the other nodes, as they are now
	Dir   string             // a Registry's folder
	// Stall is after how long a stream of which nothing comes or goes is given up; 0: 30 s.
	Stall  time.Duration
	Report func(error) // may be called from several goroutines; may be nil
}

// Shared are the archives of a node, which it gives to others and takes from them, whether a Registry is open or not.
type Shared struct {
	o       SharedOptions
	ctx     context.Context
	end     context.CancelFunc
	sending sync.WaitGroup
}

const (
	archiveKind = "archive" // of streams between nodes
	// mostArchive bounds what a node takes from another. It goes to the disk as it comes.
	mostArchive = 1 << 30

	// The first byte that who asks says, before a checksum: give it; take it.
	askGive = 'g'
	askTake = 't'
	// What is answered: it follows, or it is here; it is not here: send it.
	answerHere    = 'y'
	answerMissing = 'n'
)

// Share gives and takes archives from now on. The caller closes what it returns before the link.
func Share(o SharedOptions) *Shared {
	if o.Stall <= 0 {
		o.Stall = 30 * time.Second
	}
	if o.Report == nil {
		o.Report = func(error) {}
	}
	s := &Shared{o: o}
	s.ctx, s.end = context.WithCancel(context.Background())
	o.Link.Handle(archiveKind, s.answer)
	return s
}

// Close ends what is being sent to other nodes.
func (s *Shared) Close() {
	s.o.Link.Handle(archiveKind, nil)
	s.end()
	s.sending.Wait()
}

func (s *Shared) archive(sum string) string { return archiveIn(s.o.Dir, sum) }

// answer has a stream of another node.
func (s *Shared) answer(ctx context.Context, peer string, c net.Conn) {
	c = link.Hurry(c, s.o.Stall)
	var asked [1 + sha256.Size]byte
	if _, err := io.ReadFull(c, asked[:]); err != nil {
		return // it is gone
	}
	sum := hex.EncodeToString(asked[1:])
	var err error
	switch asked[0] {
	case askGive:
		err = s.give(sum, c)
	case askTake:
		err = s.take(ctx, sum, c)
	}
	if err != nil {
		s.o.Report(fmt.Errorf("archive %s for node %s: %w", sum, peer, err))
	}
}

// give sends an archive to who asks for it. He sees himself whether it is whole.
func (s *Shared) give(sum string, to io.Writer) error {
	f, err := os.Open(s.archive(sum))
	answer := byte(answerHere)
	if errors.Is(err, fs.ErrNotExist) {
		answer, err = answerMissing, nil
	}
	if err == nil {
		_, err = to.Write([]byte{answer})
	}
	if f == nil {
		return err
	}
	defer f.Close() // it was only read
	if err == nil {
		_, err = io.Copy(to, f)
	}
	return err
}

// take keeps an archive that another node brings, unless it is here.
func (s *Shared) take(ctx context.Context, sum string, c io.ReadWriter) error {
	what, err := checksumOf(ctx, s.archive(sum), sum)
	if err != nil {
		return err
	}
	if what != "" {
		if _, err := c.Write([]byte{answerMissing}); err != nil {
			return err
		}
		if err := s.receive(sum, c); err != nil {
			return err
		}
	}
	_, err = c.Write([]byte{answerHere})
	return err
}

// receive writes what comes until the end to the file of a checksum, if it has that.
func (s *Shared) receive(sum string, from io.Reader) error {
	path := s.archive(sum)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make a folder for code: %w", err)
	}
	return write(path, &checked{from: io.LimitReader(from, mostArchive), sum: sum, hash: sha256.New()})
}

// checked reads what has to have a checksum.
type checked struct {
	from io.Reader
	sum  string
	hash hash.Hash
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	_, _ = c.hash.Write(p[:n]) // it cannot fail
	if errors.Is(err, io.EOF) && hex.EncodeToString(c.hash.Sum(nil)) != c.sum {
		err = errors.New("what came has another checksum")
	}
	return n, err
}

// ask asks another node for something, and calls a function with the stream and what it answers. end says that nothing
// more is sent.
func (s *Shared) ask(ctx context.Context, p link.Peer, what byte, sum string,
	use func(c net.Conn, end func() error, answer byte) error) error {
	raw, err := hex.DecodeString(sum)
	if err != nil {
		return err
	}
	dialed, err := s.o.Link.Dialer().Dial(ctx, p, archiveKind)
	if err != nil {
		return err
	}
	defer dialed.Close() // everything was read, or it is given up
	defer context.AfterFunc(ctx, func() { _ = dialed.NetConn().Close() })()
	c := link.Hurry(dialed, s.o.Stall)
	_, err = c.Write(append([]byte{what}, raw...))
	answer := byte(0)
	if err == nil {
		answer, err = readByte(c)
	}
	if err == nil {
		err = use(c, dialed.CloseWrite, answer)
	}
	if err != nil {
		return fmt.Errorf("node %s: %w", p.Node, err)
	}
	return nil
}

func readByte(from io.Reader) (byte, error) {
	var one [1]byte
	_, err := io.ReadFull(from, one[:])
	return one[0], err
}

// fetch brings an archive from a node that has it.
func (s *Shared) fetch(ctx context.Context, sum string) error {
	var all error
	for _, p := range s.o.Peers() {
		err := s.ask(ctx, p, askGive, sum, func(c net.Conn, _ func() error, answer byte) error {
			if answer != answerHere {
				return errors.New("it is not there")
			}
			return s.receive(sum, c)
		})
		if err == nil {
			return nil
		}
		all = errors.Join(all, err)
	}
	return fmt.Errorf("no other node gives it: %w", all)
}

// spread brings an archive that is here to other nodes. It returns when most have it; the rest get it afterwards.
func (s *Shared) spread(ctx context.Context, sum string) error {
	peers := s.o.Peers()
	told := make(chan error, len(peers))
	for _, p := range peers {
		s.sending.Go(func() { told <- s.bring(p, sum) })
	}
	var all error
	for left, need := len(peers), (len(peers)+1)/2; need > 0; {
		select {
		case err := <-told:
			if left--; err == nil {
				need--
			}
			if all = errors.Join(all, err); need > left {
				return fmt.Errorf("%w: most nodes have to have the code: %w", queue.ErrUnavailable, all)
			}
		case <-ctx.Done():
			return errors.Join(ctx.Err(), all)
		}
	}
	return nil
}

// bring sends an archive to a node, unless that has it.
func (s *Shared) bring(p link.Peer, sum string) error {
	return s.ask(s.ctx, p, askTake, sum, func(c net.Conn, end func() error, answer byte) error {
		if answer == answerHere {
			return nil
		}
		f, err := os.Open(s.archive(sum))
		if err != nil {
			return err
		}
		defer f.Close() // it was only read
		_, err = io.Copy(c, f)
		if err == nil {
			err = end()
		}
		if err == nil {
			answer, err = readByte(c)
		}
		if err == nil && answer != answerHere {
			err = errors.New("it has not kept it")
		}
		return err
	})
}

// spread has an archive be on most nodes before anything names it. What the configuration says is at all nodes.
func (r *Registry) spread(ctx context.Context, sum string) error {
	if r.config.Shared == nil || sum == "" {
		return nil
	}
	err := r.config.Shared.spread(ctx, sum)
	if err != nil && ctx.Value(configured{}) != nil {
		r.config.Report(fmt.Errorf("code: %w", err))
		return nil
	}
	return err
}

// bring has the archives of a version be here, if other nodes have them. It may take as long as that.
func (r *Registry) bring(v Version) error {
	if r.config.Shared == nil {
		return nil
	}
	layers := map[string]string{v.SHA256: ""}
	for arn, a := range v.Settings.Attached {
		layers[a.SHA256] = arn
	}
	for sum, layer := range layers {
		if err := r.fetch(sum); err != nil {
			return &CodeError{File: r.archive(sum), Layer: layer, What: "is gone, and " + err.Error()}
		}
	}
	return nil
}

// fetch brings an archive that is not here from another node.
func (r *Registry) fetch(sum string) error {
	r.mu.RLock()
	altered := r.altered[sum] != ""
	r.mu.RUnlock()
	if _, err := os.Stat(r.archive(sum)); sum == "" || err == nil && !altered {
		return nil
	}
	if err := r.config.Shared.fetch(r.stopping, sum); err != nil {
		return err
	}
	r.mark(sum, "")
	return nil
}
