package tsurugitest

import (
	"errors"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/relation"
	"github.com/hikyaku/hikyaku/tsurugi/internal/value"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest/internal/store"
)

// codes of the SQL service that this package uses itself.
const (
	sqlExecution   = 2
	sqlInactive    = 19
	sqlTxNotFound  = 33
	sqlNoStatement = 34
	sqlUnsupported = 36
)

// sql does a request for the SQL service.
func (c *session) sql(slot uint16, body []byte, blobs []wire.Blob) error {
	r, err := message.ParseRequest(body)
	if err != nil {
		c.diagnose(slot, diagInvalidRequest, "parse error with request")
		return nil
	}
	if v := c.server.sqlVersion(); r.Version.Major != v.Major || r.Version.Above(v) {
		c.diagnose(slot, diagInvalidRequest, "inconsistent service message version")
		return nil
	}
	if err := c.locate(blobs); err != nil {
		c.diagnose(slot, diagDenied, err.Error())
		return nil
	}
	open(r.Params.Values, blobs)
	t, st, failure := c.find(r)
	asked := Request{Kind: kindOf(r.Kind), Session: c.id, SQL: r.SQL, Params: len(r.Params.Values)}
	if st != nil {
		asked.SQL = st.sql
	}
	if done, err := c.hooked(asked, slot, r.Kind, func() { c.do(slot, r, t, st, failure) }); done {
		if failed(err) && t != nil {
			t.Abort(nil)
		}
		return over(err)
	}
	c.do(slot, r, t, st, failure)
	return nil
}

// errFailed tells that a hook made a request fail.
var errFailed = errors.New("tsurugitest: the hook lets the request fail")

func failed(err error) bool { return errors.Is(err, errFailed) }

func over(err error) error {
	if failed(err) {
		return nil
	}
	return err
}

// hooked asks the hook and does what it says; done is false if the request is to be done as usual.
func (c *session) hooked(r Request, slot uint16, kind message.Kind, do func()) (done bool, err error) {
	a := c.server.ask(r)
	switch a.does {
	case drop:
		c.out = c.out[:0]
		return true, errGone
	case doAndDrop:
		if err := c.flush(true); err != nil {
			return true, err
		}
		if do != nil {
			do()
		}
		c.out = c.out[:0]
		return true, errGone
	case hang:
		c.hung = true
		return true, nil
	case workOn:
		if c.flush(true) != nil {
			return true, errGone
		}
		select {
		case <-a.until:
			return false, nil
		case <-c.server.over:
			return true, errGone
		}
	case dissipate:
		c.refuse(slot, kind, store.ErrDissipated)
		return true, errFailed
	case fail:
		c.reply(slot, message.Answer{Kind: answerTo(kind), Error: &message.Error{Code: a.code, Detail: a.detail}})
		return true, errFailed
	default:
		return false, nil
	}
}

func answerTo(k message.Kind) message.AnswerKind {
	switch k {
	case message.Begin:
		return message.BeginAnswer
	case message.Prepare:
		return message.PrepareAnswer
	case message.Statement, message.PreparedStatement:
		return message.ExecuteAnswer
	case message.Explain, message.ExplainText:
		return message.ExplainAnswer
	case message.DescribeTable:
		return message.DescribeAnswer
	case message.ListTables:
		return message.ListAnswer
	case message.SearchPath:
		return message.PathAnswer
	case message.ErrorInfo:
		return message.ErrorInfoAnswer
	case message.LargeObject:
		return message.LargeObjectAnswer
	case message.TxStatus:
		return message.StatusAnswer
	default:
		return message.ResultOnly
	}
}

func (c *session) reply(slot uint16, a message.Answer) {
	if a.Kind == message.ErrorInfoAnswer && a.Error != nil {
		a.Absent = true // an error of the request itself
	}
	c.answer(slot, wire.Answer{Message: a.Append(nil)})
}

// answerInfo answers with the error of a transaction, which is a good answer.
func (c *session) answerInfo(slot uint16, a message.Answer) {
	c.answer(slot, wire.Answer{Message: a.Append(nil)})
}

// refuse answers with an error.
func (c *session) refuse(slot uint16, kind message.Kind, err error) {
	if errors.Is(err, store.ErrDissipated) {
		c.diagnose(slot, diagUnknown, err.Error())
		return
	}
	e := &message.Error{Code: sqlUnsupported, Detail: err.Error()}
	var refused *store.Error
	if errors.As(err, &refused) {
		e.Code = refused.Code
	}
	c.reply(slot, message.Answer{Kind: answerTo(kind), Error: e})
}

// find finds the transaction and the statement that a request names.
func (c *session) find(r *message.Request) (t *tx, st *statement, err error) {
	if r.Tx != nil {
		id, secret, err := message.ParseHandle(r.Tx)
		t = c.txs[id]
		if err != nil || t == nil || t.secret != secret {
			return nil, nil, &store.Error{Code: sqlTxNotFound, Detail: "Transaction handle is invalid."}
		}
	}
	if r.Stmt != nil {
		id, _, err := message.ParseHandle(r.Stmt)
		if st = c.stmts[id]; err != nil || st == nil {
			return t, nil, &store.Error{Code: sqlNoStatement, Detail: "Invalid statement handle"}
		}
	}
	return t, st, nil
}

// do does a request and answers it.
func (c *session) do(slot uint16, r *message.Request, t *tx, st *statement, err error) {
	if r.Kind == message.DisposeTx && t == nil {
		c.reply(slot, message.Answer{Kind: message.ResultOnly}) // it is gone already, which is what was wanted
		return
	}
	if err == nil && t == nil && needsTx(r.Kind) {
		err = &store.Error{Code: sqlTxNotFound, Detail: "Invalid request format - missing transaction_handle"}
	}
	if err != nil {
		c.refuse(slot, r.Kind, err)
		return
	}
	switch r.Kind {
	case message.Begin:
		c.begin(slot, r)
	case message.Prepare:
		c.prepare(slot, r)
	case message.Statement, message.Query, message.PreparedStatement, message.PreparedQuery:
		c.execute(slot, r, t, st)
	case message.Commit:
		c.commit(slot, r, t)
	case message.Rollback:
		t.Abort(nil)
		c.reply(slot, message.Answer{Kind: message.ResultOnly})
	case message.DisposeTx:
		t.Abort(nil)
		c.forget(t)
		// the protocol has an answer of its own for it, which the server does not use
		c.reply(slot, message.Answer{Kind: message.ResultOnly})
	case message.DisposeStatement:
		id, _, _ := message.ParseHandle(r.Stmt) // find has read it
		delete(c.stmts, id)
		c.reply(slot, message.Answer{Kind: message.ResultOnly})
	default:
		c.inform(slot, r, t, st)
	}
}

func needsTx(k message.Kind) bool {
	switch k {
	case message.Statement, message.Query, message.PreparedStatement, message.PreparedQuery, message.Commit,
		message.Rollback, message.DisposeTx, message.ErrorInfo, message.TxStatus, message.LargeObject:
		return true
	default:
		return false
	}
}

func (c *session) forget(t *tx) {
	for id, other := range c.txs {
		if other == t {
			delete(c.txs, id)
		}
	}
}

func (c *session) begin(slot uint16, r *message.Request) {
	t, err := c.server.db.Begin(r.Options)
	if err != nil {
		c.refuse(slot, r.Kind, err)
		return
	}
	t.Name(c.server.serial.Add(1))
	c.handle++
	secret := c.handle * 0x9e3779b97f4a7c15
	c.txs[c.handle] = &tx{t, c.handle, secret}
	c.reply(slot, message.Answer{Kind: message.BeginAnswer, Handle: message.AppendHandle(nil, c.handle, secret),
		TxID: t.ID()})
}

func (c *session) prepare(slot uint16, r *message.Request) {
	st, err := c.server.db.Prepare(r.SQL, r.Placeholders)
	if err != nil {
		c.refuse(slot, r.Kind, err)
		return
	}
	c.handle++
	c.stmts[c.handle] = &statement{st, r.SQL}
	var query uint64
	if st.Query() {
		query = 1
	}
	c.reply(slot, message.Answer{Kind: message.PrepareAnswer, Handle: message.AppendHandle(nil, c.handle, query)})
}

func (c *session) execute(slot uint16, r *message.Request, t *tx, st *statement) {
	query := r.Kind == message.Query || r.Kind == message.PreparedQuery
	var err error
	if st == nil {
		var s *store.Statement
		if s, err = c.server.db.Prepare(r.SQL, nil); err == nil {
			st = &statement{s, r.SQL}
		}
	}
	var res *store.Result
	switch state, _ := t.State(); {
	case state != store.Running:
		err = &store.Error{Code: sqlInactive, Detail: "Current transaction is inactive (maybe aborted already.)"}
	case err == nil && query != st.Query():
		err = &store.Error{Code: sqlUnsupported, Detail: "a query is no statement, and a statement no query"}
	case err == nil:
		res, err = t.Execute(st.Statement, r.Params)
	}
	if err != nil {
		t.Abort(err)
		c.refuse(slot, r.Kind, err)
		return
	}
	if query {
		c.rows(slot, t, res)
		return
	}
	c.server.stats.statements.Add(1)
	c.server.stats.rows.Add(res.Inserted + res.Updated + res.Merged + res.Deleted)
	c.reply(slot, message.Answer{Kind: message.ExecuteAnswer, Inserted: res.Inserted, Updated: res.Updated,
		Merged: res.Merged, Deleted: res.Deleted})
}

// rows sends a result set: what it is called, its columns, its rows by turns from each writer, its end, and the answer.
func (c *session) rows(slot uint16, t *tx, res *store.Result) {
	if int(slot) >= c.slots {
		c.diagnose(slot, diagResourceLimit, "too many result sets being opened")
		return
	}
	name := "resultset-" + value.OfInt8(int64(slot)).String()
	c.frame(wire.Response{Info: wire.ResultSetHello, Slot: slot, Payload: []byte(name)})
	head := message.Answer{Kind: message.QueryHead, Name: name, Columns: res.Columns}
	c.frame(wire.Response{Info: wire.ResponseBodyHead, Slot: slot,
		Payload: wire.AppendAnswer(nil, wire.Answer{Session: c.id, Message: head.Append(nil)})})
	var chunk []byte
	writer := uint8(0)
	send := func() {
		if len(chunk) > 0 {
			c.frame(wire.Response{Info: wire.ResultSetPayload, Slot: slot, Writer: writer, Payload: chunk})
		}
		c.frame(wire.Response{Info: wire.ResultSetPayload, Slot: slot, Writer: writer})
		chunk = chunk[:0]
		writer = uint8((int(writer) + 1) % c.server.cfg.Writers)
		_ = c.flush(len(c.out) > flushAt) // the reader sees it when the client is gone
	}
	for _, row := range res.Rows {
		chunk = relation.AppendRow(chunk, c.server.objects.show(t.handle, row))
		if len(chunk) >= c.server.cfg.Chunk {
			send()
		}
	}
	send()
	c.frame(wire.Response{Info: wire.ResultSetBye, Slot: slot})
	c.reply(slot, message.Answer{Kind: message.ResultOnly})
}

func (c *session) commit(slot uint16, r *message.Request, t *tx) {
	if err := t.Commit(); err != nil {
		c.refuse(slot, r.Kind, err)
		return
	}
	c.server.stats.commits.Add(1)
	if r.AutoDispose {
		c.forget(t)
	}
	c.reply(slot, message.Answer{Kind: message.ResultOnly})
}
