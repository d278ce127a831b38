package store

import (
	"fmt"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
)

// kinds of transactions, as the protocol numbers them.
const (
	occ      = 1
	ltx      = 2
	readOnly = 3
)

// A Tx is a transaction.
type Tx struct {
	db       *DB
	kind     uint64
	id       string
	preserve map[string]bool
	tables   map[*table]*view
	state    State
	cause    error // what aborted it
}

// A State is how far a transaction is.
type State uint8

// The states.
const (
	Running State = iota
	Committed
	Aborted
)

// A view is what a transaction has seen and changed of a table.
type view struct {
	seen    map[string]uint64 // key → version, 0 if there was no row
	written map[string]*row   // nil: deleted
	scanned bool
	changed uint64 // the table's, when it was scanned
}

// Begin begins a transaction.
func (db *DB) Begin(o message.Options) (*Tx, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	tx := &Tx{db: db, kind: o.Type, preserve: make(map[string]bool), tables: make(map[*table]*view)}
	if tx.kind == 0 {
		tx.kind = occ
	}
	if tx.kind > readOnly {
		return nil, refuse(codeBadParameter, "transaction type %d is unknown", o.Type)
	}
	for _, name := range o.Preserve {
		if tx.kind != ltx {
			break
		}
		if _, ok := db.tables[name]; !ok {
			return nil, refuse(codeNotFound, "Target table specified in write preserve is not found. name:%s", name)
		}
		tx.preserve[name] = true
		if db.preserved[name] == nil {
			db.preserved[name] = make(map[*Tx]bool)
		}
		db.preserved[name][tx] = true
	}
	return tx, nil
}

// Name sets what the transaction is called.
func (tx *Tx) Name(n uint64) { tx.id = fmt.Sprintf("TID-%016x", n) }

// ID is what it is called.
func (tx *Tx) ID() string { return tx.id }

// State is how far it is, and what aborted it, if something did.
func (tx *Tx) State() (State, error) {
	tx.db.mu.Lock()
	defer tx.db.mu.Unlock()
	return tx.state, tx.cause
}

// Abort undoes it because of an error, nil for a rollback. What is over stays as it is.
func (tx *Tx) Abort(cause error) {
	tx.db.mu.Lock()
	defer tx.db.mu.Unlock()
	tx.abort(cause)
}

func (tx *Tx) abort(cause error) {
	if tx.state == Running {
		tx.state, tx.cause = Aborted, cause
		tx.leave()
	}
}

// leave gives up what the transaction holds.
func (tx *Tx) leave() {
	for name := range tx.preserve {
		delete(tx.db.preserved[name], tx)
	}
	tx.tables = nil
}

func (tx *Tx) running() error {
	if tx.state != Running {
		return refuse(codeInactive, "Current transaction is inactive (maybe aborted already.)")
	}
	return nil
}

func (tx *Tx) view(t *table) *view {
	v, ok := tx.tables[t]
	if !ok {
		v = &view{seen: make(map[string]uint64), written: make(map[string]*row)}
		tx.tables[t] = v
	}
	return v
}

// get is the row of a key as the transaction sees it.
func (tx *Tx) get(t *table, key string) *row {
	v := tx.view(t)
	if r, ok := v.written[key]; ok {
		return r
	}
	r := t.rows[key]
	if _, ok := v.seen[key]; !ok {
		v.seen[key] = 0
		if r != nil {
			v.seen[key] = r.version
		}
	}
	return r
}

// put writes a row, or removes one.
func (tx *Tx) put(t *table, key string, r *row) {
	v := tx.view(t)
	if _, ok := v.seen[key]; !ok {
		tx.get(t, key)
	}
	v.written[key] = r
}

// all is every row that the transaction sees.
func (tx *Tx) all(t *table) []*row {
	v := tx.view(t)
	if !v.scanned {
		v.scanned, v.changed = true, t.changed
	}
	rows := make([]*row, 0, len(t.rows)+len(v.written))
	for key, r := range t.rows {
		if _, ok := v.written[key]; !ok {
			rows = append(rows, r)
		}
	}
	for _, r := range v.written {
		if r != nil {
			rows = append(rows, r)
		}
	}
	return rows
}

// mayWrite tells whether the transaction may change a table.
func (tx *Tx) mayWrite(t *table) error {
	switch {
	case tx.kind == readOnly:
		return refuse(codeReadOnly, "Write operation by RTX")
	case tx.kind == ltx && !tx.preserve[t.name]:
		return refuse(codeNoPreserve, "LTX write operation is not allowed without write preserve: table %q", t.name)
	case tx.kind == occ && len(tx.db.preserved[t.name]) > 0:
		return refuse(codePreserved, "Serialization failed: conflict on write preserve of table %q", t.name)
	}
	return nil
}

// Commit makes the transaction's changes everybody's, or tells that it lost a conflict; then it is aborted.
func (tx *Tx) Commit() error {
	tx.db.mu.Lock()
	defer tx.db.mu.Unlock()
	if err := tx.running(); err != nil {
		return err
	}
	writes := false
	for _, v := range tx.tables {
		writes = writes || len(v.written) > 0
	}
	if err := tx.validate(writes); err != nil {
		tx.abort(err)
		return err
	}
	if writes {
		tx.db.commits++
	}
	for t, v := range tx.tables {
		tx.apply(t, v)
	}
	tx.state = Committed
	tx.leave()
	return nil
}

// validate tells whether what the transaction saw is still so. Who writes nothing saw one moment and need not ask.
func (tx *Tx) validate(writes bool) error {
	if !writes {
		return nil
	}
	code := uint64(codeOCCRead)
	if tx.kind == ltx {
		code = codeLTX
	}
	for t, v := range tx.tables {
		if v.scanned && t.changed != v.changed {
			return refuse(code, "Serialization failed: rows of table %q were changed by another transaction", t.name)
		}
		for key, version := range v.seen {
			var now uint64
			if r := t.rows[key]; r != nil {
				now = r.version
			}
			if now != version {
				return refuse(code, "Serialization failed: a row of table %q was changed by another transaction",
					t.name)
			}
		}
	}
	return nil
}

func (tx *Tx) apply(t *table, v *view) {
	if len(v.written) > 0 {
		t.changed = tx.db.commits
	}
	for key, r := range v.written {
		if r == nil {
			delete(t.rows, key)
			continue
		}
		r.version = tx.db.commits
		t.rows[key] = r
	}
}
