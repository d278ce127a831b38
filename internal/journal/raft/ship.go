package raft

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"slices"
	"time"

	etcd "go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// A parcel is what one replica sends another apart from messages, as a stream: what it is, a header, in a snapshot
// raft's message and the records that are live, then the owner's checkpoint; at last a CRC-32C of all. Neither end
// holds a checkpoint or a log in memory.
const (
	parcelCheckpoint = 1
	parcelSnapshot   = 2
	// shipRecords is how many records of a snapshot are read at once.
	shipRecords = 128
	// partMost bounds a part of a parcel that is held in memory.
	partMost = 1 << 30
	// pieceBytes is how much of a checkpoint goes into one part.
	pieceBytes = 64 << 10
	// arrival is how long a checkpoint is kept until this node has what it is of: then it gets the next one.
	arrival = time.Minute
)

var (
	errStale  = errors.New("checkpoint is of another log than this node's")
	errParcel = errors.New("parcel of another node is damaged")
)

// shipAll sends the newest checkpoint to every other replica. One that is being sent an older one gets it next.
func (r *Replica) shipAll(at uint64) {
	r.log.mu.Lock()
	conf := r.log.confAt(r.log.last).state
	r.log.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range append(conf.GetVoters(), conf.GetLearners()...) {
		if id == r.o.ID || r.o.Ship == nil || r.failure != nil {
			continue
		}
		if _, sending := r.ships[id]; !sending {
			r.running.Go(func() { r.ship(id) })
		}
		r.ships[id] = at
	}
}

// Shipped waits until no checkpoint is on its way to another replica.
func (r *Replica) Shipped(ctx context.Context, to uint64) error {
	defer context.AfterFunc(ctx, r.tell)()
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.failure == nil && ctx.Err() == nil {
		if _, sending := r.ships[to]; !sending {
			return nil
		}
		r.news.Wait()
	}
	return cmp.Or(r.failure, ctx.Err())
}

// ship sends a replica checkpoints until it has the newest.
func (r *Replica) ship(to uint64) {
	for sent := uint64(0); ; {
		r.mu.Lock()
		at := r.ships[to]
		if sent >= at || r.failure != nil {
			delete(r.ships, to)
			r.news.Broadcast()
			r.mu.Unlock()
			return
		}
		r.mu.Unlock()
		err := r.o.Ship(r.ctx, to, func(w io.Writer) error { return r.pack(r.ctx, w, parcelCheckpoint, nil) })
		if err != nil && r.ctx.Err() == nil {
			r.o.Report(fmt.Errorf("send a checkpoint to replica %x: %w", to, err)) // it gets the next one
		}
		sent = at
	}
}

// sendSnapshot sends a replica that has fallen behind what it needs to begin anew.
func (r *Replica) sendSnapshot(m *pb.Message) {
	to := m.GetTo()
	if r.o.Ship == nil {
		r.loop.node.ReportSnapshot(to, etcd.SnapshotFailure)
		return
	}
	r.running.Go(func() {
		err := r.o.Ship(r.ctx, to, func(w io.Writer) error {
			return r.sound(r.pack(r.ctx, w, parcelSnapshot, m))
		})
		status := etcd.SnapshotFinish
		if err != nil {
			status = etcd.SnapshotFailure
			if r.ctx.Err() == nil {
				r.o.Report(fmt.Errorf("send replica %x the log anew: %w", to, err))
			}
			select { // raft sends it at once again: that may be much, and the other may have no room for it
			case <-time.After(time.Duration(r.o.ElectionTicks) * r.o.Tick):
			case <-r.ctx.Done():
			}
		}
		r.do(func() { r.loop.node.ReportSnapshot(to, status) })
	})
}

// pack writes a parcel.
func (r *Replica) pack(ctx context.Context, to io.Writer, what byte, m *pb.Message) (err error) {
	sum := crc32.New(castagnoli)
	out := bufio.NewWriterSize(to, 1<<16)
	w := &parts{w: io.MultiWriter(out, sum)}
	local := r.log.journal()
	times := 1
	if what == parcelSnapshot {
		times = 2 // which records are live is read of it first
	}
	h, checkpoint, err := openCheckpoint(ctx, local, times)
	defer func() {
		for _, c := range checkpoint {
			err = errors.Join(err, c.Close())
		}
	}()
	if err != nil {
		return err
	}
	table := &log{local: local, places: h.places}
	h.places = nil
	// Raft takes a snapshot if it knows the one who gets it. Who was taken in later than the checkpoint has no vote as
	// of that, and finds the entry that takes him in behind it.
	if what == parcelSnapshot && !slices.Contains(append(h.conf.GetVoters(), h.conf.GetLearners()...), m.GetTo()) {
		h.conf.Learners = append(h.conf.Learners, m.GetTo())
	}
	w.bytes([]byte{what})
	w.bytes(h.encode())
	if what == parcelSnapshot {
		m = proto.CloneOf(m)
		m.Snapshot.Metadata.Index, m.Snapshot.Metadata.Term = new(h.at), new(h.term)
		m.Snapshot.Metadata.ConfState = h.conf
		b, err := proto.Marshal(m)
		if err != nil {
			return err
		}
		w.bytes(b)
		if r.o.Live == nil {
			return errors.New("nobody tells which records are live")
		}
		live, err := r.o.Live(ctx, checkpoint[1], table)
		if err != nil {
			return err
		}
		if err := w.records(ctx, local, table, live); err != nil {
			return err
		}
	}
	if err := w.pieces(checkpoint[0]); err != nil {
		return err
	}
	if _, err := out.Write(binary.LittleEndian.AppendUint32(nil, sum.Sum32())); err != nil {
		return err
	}
	return out.Flush()
}

// openCheckpoint opens the newest checkpoint of an owner's so many times, and reads the header. What it has opened the
// caller closes, also after an error.
func openCheckpoint(ctx context.Context, local journal.Journal, times int) (h header, opened []io.ReadCloser,
	err error) {
	for len(opened) < times {
		_, c, _, err := local.LoadCheckpoint(ctx)
		if err != nil {
			return h, opened, err
		}
		opened = append(opened, c)
		next, err := readHeader(c)
		if err == nil && next.none {
			err = journal.ErrNoCheckpoint
		}
		if err != nil {
			return h, opened, err
		}
		if n := len(opened); n > 1 && next.at != h.at { // a newer one was saved in between
			for _, older := range opened[:n-1] {
				if err := older.Close(); err != nil {
					return h, opened[n-1:], err
				}
			}
			opened = opened[n-1:]
		}
		h = next
	}
	return h, opened, nil
}

// parts writes byte strings with their lengths.
type parts struct {
	w   io.Writer
	err error
}

func (p *parts) bytes(b []byte) {
	for _, b := range [][]byte{binary.AppendUvarint(nil, uint64(len(b))), b} {
		if p.err == nil {
			_, p.err = p.w.Write(b)
		}
	}
}

// pieces writes what r has, piece by piece. An empty part ends them.
func (p *parts) pieces(r io.Reader) error {
	piece := make([]byte, pieceBytes)
	for p.err == nil {
		n, err := io.ReadFull(r, piece)
		if n > 0 {
			p.bytes(piece[:n])
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	p.bytes(nil)
	return p.err
}

// records writes the records at addresses, each as a group of one behind its place. An empty part ends them.
func (p *parts) records(ctx context.Context, local journal.Journal, table *log, live []journal.Address) error {
	for len(live) > 0 {
		some := live[:min(shipRecords, len(live))]
		live = live[len(some):]
		at := make([]journal.Address, 0, len(some))
		from := make([]journal.Address, 0, len(some))
		for _, a := range some {
			if l, there := table.find(a); there {
				at, from = append(at, l), append(from, a)
			}
		}
		got := make([]journal.Record, len(at))
		var damage error
		err := local.Read(ctx, at, func(i int, rec journal.Record, err error) {
			if err != nil && !isReleased(err) {
				damage = err
			}
			got[i] = rec
			if err != nil {
				from[i] = journal.Address{}
			}
		})
		if err := errors.Join(err, damage); err != nil {
			return err
		}
		for i, rec := range got {
			if from[i] == (journal.Address{}) {
				continue // it was needed by the checkpoint, and what follows says that it is not
			}
			b := binary.AppendUvarint(nil, uint64(from[i].Position))
			b = binary.AppendUvarint(b, uint64(from[i].Index))
			p.bytes(append(b, encodeGroup([]journal.Record{rec})...))
		}
		if p.err != nil {
			return p.err
		}
	}
	p.bytes(nil)
	return p.err
}

// Receive takes what another replica's Ship sends. It returns when this node has it, or does not want it.
func (r *Replica) Receive(ctx context.Context, from io.Reader) error {
	in := &unpacker{r: bufio.NewReaderSize(from, 1<<16), sum: crc32.New(castagnoli)}
	what := in.part()
	head := in.part()
	if in.err != nil || len(what) != 1 || len(head) < 8 {
		return fmt.Errorf("%w: %w", errParcel, errors.Join(in.err))
	}
	h, err := decodeHeader(head[8:])
	if err != nil {
		return err
	}
	switch what[0] {
	case parcelCheckpoint:
		return r.receiveCheckpoint(ctx, in, h)
	case parcelSnapshot:
		return r.receiveSnapshot(ctx, in, h)
	}
	return fmt.Errorf("%w: unknown kind %d", errParcel, what[0])
}

// receiveCheckpoint keeps a checkpoint of the owner's, once this node has what it is of.
func (r *Replica) receiveCheckpoint(ctx context.Context, in *unpacker, h header) (err error) {
	spool, err := r.o.Local.Spool()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, spool.Close()) }()
	if err := errors.Join(in.pieces(spool), in.end()); err != nil {
		return err
	}
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return err
	}
	wait, stop := context.WithTimeout(ctx, arrival)
	defer stop()
	if err := r.await(wait, h.at); err != nil {
		return err
	}
	term, err := r.log.Term(h.at)
	if errors.Is(err, etcd.ErrCompacted) {
		return nil // this node has a newer one
	}
	if err != nil || term != h.term {
		return errStale
	}
	if h.at <= r.log.checkpoint() {
		return nil
	}
	return r.keep(ctx, h.owner, func(w io.Writer) error {
		_, err := io.Copy(w, spool)
		return err
	})
}

// unpacker reads the parts of a parcel.
type unpacker struct {
	r   *bufio.Reader
	sum hash.Hash32
	err error
}

// ReadByte reads a byte of a length.
func (u *unpacker) ReadByte() (byte, error) {
	b, err := u.r.ReadByte()
	if err == nil {
		_, _ = u.sum.Write([]byte{b}) // it cannot fail
	}
	return b, err
}

// part reads the next part; nil after an error.
func (u *unpacker) part() []byte {
	n, ok := u.length()
	if !ok {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(u.r, n)) // memory grows with what comes, not with what is said
	if err == nil && int64(len(b)) < n {
		err = io.ErrUnexpectedEOF
	}
	_, _ = u.sum.Write(b)
	u.err = err
	return b
}

// length reads that of the next part. It is false after an error.
func (u *unpacker) length() (int64, bool) {
	if u.err != nil {
		return 0, false
	}
	n, err := binary.ReadUvarint(u)
	if err == nil && n > partMost {
		err = fmt.Errorf("%w: a part of %d bytes", errParcel, n)
	}
	u.err = err
	return int64(n), err == nil
}

// pieces writes the parts up to an empty one to w.
func (u *unpacker) pieces(w io.Writer) error {
	to, piece := io.MultiWriter(u.sum, w), make([]byte, pieceBytes)
	for {
		n, ok := u.length()
		if !ok || n == 0 {
			return u.err
		}
		var got int64
		if got, u.err = io.CopyBuffer(to, io.LimitReader(u.r, n), piece); u.err == nil && got < n {
			u.err = io.ErrUnexpectedEOF
		}
	}
}

// end checks the sum behind the last part.
func (u *unpacker) end() error {
	var sum [4]byte
	if u.err == nil {
		_, u.err = io.ReadFull(u.r, sum[:])
	}
	if u.err == nil && binary.LittleEndian.Uint32(sum[:]) != u.sum.Sum32() {
		u.err = errParcel
	}
	return u.err
}
