package tsurugi

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/session"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// A TxType is a kind of transaction.
type TxType uint8

// The kinds of transactions.
const (
	OCC      TxType = 1 // short: refused if others changed what it saw
	LTX      TxType = 2 // long: it announces what it writes
	ReadOnly TxType = 3 // it sees a snapshot and writes nothing
)

// A Priority says what becomes of other transactions while this one runs. Only long ones have a use for it.
type Priority uint8

// The priorities.
const (
	DefaultPriority  Priority = 0
	Interrupt        Priority = 1 // those that run are ended
	Wait             Priority = 2 // new ones wait, those that run are waited for
	InterruptExclude Priority = 3 // those that run are ended, new ones wait until the end
	WaitExclude      Priority = 4 // those that run are waited for, new ones wait until the end
)

// A Durability is how far a commit has come when it is answered.
type Durability uint8

// How far a commit can have come. The default is the server's setting.
const (
	DefaultDurability Durability = 0
	Accepted          Durability = 10 // nothing but a failure of the server can undo it
	Available         Durability = 20 // others see it
	Stored            Durability = 30 // it is on the server's disk
	Propagated        Durability = 40 // it is on all servers that should have it
)

// TxOptions says how a transaction begins and ends. The zero value is an OCC transaction.
type TxOptions struct {
	Type          TxType // OCC if 0
	Label         string // shown by the server
	Priority      Priority
	WritePreserve []string // tables that an LTX writes; it may write no others
	ReadInclude   []string // tables that an LTX may read; empty: all
	ReadExclude   []string // tables that an LTX will not read
	DDL           bool     // an LTX changes definitions
	Durability    Durability
}

// A Tx is a transaction. Its methods may be called by many goroutines, but the statements of one are ordered only if
// the calls are.
type Tx struct {
	s     *Session
	id    string
	opts  TxOptions
	bytes []byte // the server's handle

	mu      sync.Mutex
	over    bool
	cause   *Error     // what ended it, when it is over
	pending []*Pending // in the order of sending; those that succeeded may be gone
	checked int        // len(pending) after they were last taken out
}

// Begin begins a transaction.
func (s *Session) Begin(ctx context.Context, opts TxOptions) (*Tx, error) {
	if opts.Type == 0 {
		opts.Type = OCC
	}
	a, err := s.ask(ctx, &message.Request{Kind: message.Begin, Options: message.Options{
		Type: uint64(opts.Type), Priority: uint64(opts.Priority), Label: opts.Label, DDL: opts.DDL,
		Preserve: opts.WritePreserve, Include: opts.ReadInclude, Exclude: opts.ReadExclude,
	}})
	if err != nil {
		return nil, err
	}
	if a.Kind != message.BeginAnswer {
		return nil, unexpected(a)
	}
	return &Tx{s: s, id: a.TxID, opts: opts, bytes: a.Handle}, nil
}

// ID is the server's name for the transaction, as its logs have it.
func (tx *Tx) ID() string { return tx.id }

// Session is the one that the transaction belongs to.
func (tx *Tx) Session() *Session { return tx.s }

// Send sends a prepared statement with values for its placeholders and does not wait for the answer. It blocks while
// Config.InFlight requests of the session have no answer. If it fails, nothing was sent and the transaction can go on.
func (tx *Tx) Send(ctx context.Context, st *Statement, values ...Value) (*Pending, error) {
	params, channels, blobs, err := st.params(values)
	if err != nil {
		return nil, err
	}
	return tx.dispatch(ctx, &message.Request{Kind: message.PreparedStatement, Tx: tx.bytes, Stmt: st.handle,
		Params: params, Channels: channels}, blobs)
}

// SendText sends a statement in SQL, as Send does a prepared one.
func (tx *Tx) SendText(ctx context.Context, sql string) (*Pending, error) {
	return tx.dispatch(ctx, &message.Request{Kind: message.Statement, Tx: tx.bytes, SQL: sql}, nil)
}

// Exec runs a statement in SQL and waits for its result.
func (tx *Tx) Exec(ctx context.Context, sql string) (Result, error) {
	p, err := tx.SendText(ctx, sql)
	if err != nil {
		return Result{}, err
	}
	return p.Wait(ctx)
}

// ExecPrepared runs a prepared statement and waits for its result.
func (tx *Tx) ExecPrepared(ctx context.Context, st *Statement, values ...Value) (Result, error) {
	p, err := tx.Send(ctx, st, values...)
	if err != nil {
		return Result{}, err
	}
	return p.Wait(ctx)
}

func (tx *Tx) dispatch(ctx context.Context, r *message.Request, blobs []wire.Blob) (*Pending, error) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if tx.over {
		return nil, ErrTxDone
	}
	c, err := tx.s.send(ctx, r, blobs)
	if err != nil {
		return nil, convert(err)
	}
	p := &Pending{call: c}
	tx.track(p)
	return p, nil
}

// track keeps a pending result for Commit, and lets go of those that have succeeded, now and then.
func (tx *Tx) track(p *Pending) {
	const often = 64
	tx.pending = append(tx.pending, p)
	if len(tx.pending) < 2*tx.checked+often {
		return
	}
	kept := tx.pending[:0]
	for _, p := range tx.pending {
		if !p.succeeded() {
			kept = append(kept, p)
		}
	}
	clear(tx.pending[len(kept):])
	tx.pending, tx.checked = kept, len(kept)
}

// finish makes the transaction take no more and returns what it still expects.
func (tx *Tx) finish() ([]*Pending, error) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if tx.over {
		return nil, ErrTxDone
	}
	tx.over = true
	pending := tx.pending
	tx.pending = nil
	return pending, nil
}

// Commit waits for the statements that were sent and commits; result sets have to have been read or closed before. If
// one of them failed, its error is Commit's, and the transaction is rolled back. The error is a *CommitUnknownError if
// the answer to the commit itself did not come.
func (tx *Tx) Commit(ctx context.Context) error {
	pending, err := tx.finish()
	if err != nil {
		return err
	}
	for _, p := range pending {
		if _, err := p.Wait(ctx); err != nil {
			tx.ended(err)
			tx.abandon()
			return err
		}
	}
	c, err := tx.s.send(ctx, &message.Request{Kind: message.Commit, Tx: tx.bytes, Until: uint64(tx.opts.Durability),
		AutoDispose: true}, nil)
	if err != nil {
		tx.abandon()
		return convert(err)
	}
	wired, err := c.Wait(ctx)
	if err != nil {
		return &CommitUnknownError{convert(err)}
	}
	a, err := result(wired)
	var e *Error
	switch {
	case IsDissipated(err): // it was taken, and nobody knows how far it came
		return &CommitUnknownError{err}
	case errors.As(err, &e):
		tx.ended(err)
		tx.s.tell(&message.Request{Kind: message.DisposeTx, Tx: tx.bytes})
		return err
	case err != nil:
		return &CommitUnknownError{err}
	case a.Kind != message.ResultOnly:
		return &CommitUnknownError{unexpected(a)}
	}
	return nil
}

// Rollback waits for the statements that were sent, whatever becomes of them, and undoes them. After Commit it does
// nothing and returns nil.
func (tx *Tx) Rollback(ctx context.Context) error {
	pending, err := tx.finish()
	if errors.Is(err, ErrTxDone) {
		return nil
	}
	for _, p := range pending {
		select {
		case <-p.call.Done():
			_, err := p.Wait(ctx) // it is there
			tx.ended(err)
		case <-ctx.Done():
			tx.abandon()
			return fmt.Errorf("tsurugi: rolling back: %w", context.Cause(ctx))
		}
	}
	_, err = tx.s.ask(ctx, &message.Request{Kind: message.Rollback, Tx: tx.bytes})
	tx.s.tell(&message.Request{Kind: message.DisposeTx, Tx: tx.bytes})
	return err
}

// abandon rolls back and does not wait.
func (tx *Tx) abandon() {
	tx.s.tell(&message.Request{Kind: message.Rollback, Tx: tx.bytes})
	tx.s.tell(&message.Request{Kind: message.DisposeTx, Tx: tx.bytes})
}

// ended keeps the first error of the server, for Cause.
func (tx *Tx) ended(err error) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if tx.cause == nil {
		errors.As(err, &tx.cause)
	}
}

// Cause is the error that ended the transaction; nil if it has not ended, or nobody knows one. The server is asked as
// long as it keeps the transaction, until Commit or Rollback; after that it is the error that made the commit fail, or
// the first of the statements'.
func (tx *Tx) Cause(ctx context.Context) (*Error, error) {
	tx.mu.Lock()
	over, cause := tx.over, tx.cause
	tx.mu.Unlock()
	if over {
		return cause, nil
	}
	a, err := tx.s.ask(ctx, &message.Request{Kind: message.ErrorInfo, Tx: tx.bytes})
	if err != nil {
		return nil, err
	}
	switch {
	case a.Kind != message.ErrorInfoAnswer:
		return nil, unexpected(a)
	case a.Error == nil || a.Error.Code == 0:
		return nil, nil
	}
	return &Error{Code: Code(a.Error.Code), Message: a.Error.Detail, Supplement: a.Error.Supplement}, nil
}

// A Pending is the result of a statement that was sent. It may be waited for by many goroutines, or by none.
type Pending struct {
	call *session.Call
	once sync.Once
	res  Result
	err  error
}

// A Result tells how many rows a statement changed.
type Result struct{ Inserted, Updated, Merged, Deleted int64 }

// Rows is how many rows were changed in any way.
func (r Result) Rows() int64 { return r.Inserted + r.Updated + r.Merged + r.Deleted }

// Done is closed when the answer is there.
func (p *Pending) Done() <-chan struct{} { return p.call.Done() }

// Wait waits for the answer. If the context ends first the server is told to give the statement up, which ends the
// transaction.
func (p *Pending) Wait(ctx context.Context) (Result, error) {
	a, err := p.call.Wait(ctx)
	if err != nil {
		return Result{}, convert(err)
	}
	return p.read(a)
}

func (p *Pending) read(a wire.Answer) (Result, error) {
	p.once.Do(func() {
		var r *message.Answer
		if r, p.err = result(a); p.err != nil {
			return
		}
		if r.Kind != message.ExecuteAnswer && r.Kind != message.ResultOnly {
			p.err = unexpected(r)
			return
		}
		p.res = Result{r.Inserted, r.Updated, r.Merged, r.Deleted}
	})
	return p.res, p.err
}

func (p *Pending) succeeded() bool {
	select {
	case <-p.call.Done():
		_, err := p.Wait(context.Background()) // it is there
		return err == nil
	default:
		return false
	}
}
