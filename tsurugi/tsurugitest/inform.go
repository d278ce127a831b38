package tsurugitest

import (
	"errors"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest/internal/store"
)

// status of a transaction, as the protocol numbers it.
const (
	statusRunning = 10
	statusStored  = 40
	statusAborted = 70
)

// inform does the requests that only ask.
func (c *session) inform(slot uint16, r *message.Request, t *tx, st *statement) {
	switch r.Kind {
	case message.DescribeTable:
		columns, key, err := c.server.db.Describe(r.Table)
		if err != nil {
			c.refuse(slot, r.Kind, err)
			return
		}
		c.reply(slot, message.Answer{Kind: message.DescribeAnswer, Database: "tsurugi", Schema: "public",
			Table: r.Table, Columns: columns, Key: key})
	case message.ListTables:
		a := message.Answer{Kind: message.ListAnswer}
		for _, name := range c.server.db.Tables() {
			a.Names = append(a.Names, []string{name})
		}
		c.reply(slot, a)
	case message.SearchPath:
		c.reply(slot, message.Answer{Kind: message.PathAnswer})
	case message.ErrorInfo:
		c.errorInfo(slot, t)
	case message.TxStatus:
		state, _ := t.State()
		status := map[store.State]uint64{store.Running: statusRunning, store.Committed: statusStored,
			store.Aborted: statusAborted}[state]
		c.reply(slot, message.Answer{Kind: message.StatusAnswer, Status: status})
	case message.Explain, message.ExplainText:
		c.explain(slot, r, st)
	case message.Batch:
		c.diagnose(slot, diagUnsupported, "batch request is unsupported")
	case message.LargeObject:
		c.object(slot, r, t)
	default:
		c.diagnose(slot, diagInvalidRequest, "request code is invalid")
	}
}

// errorInfo tells what aborted a transaction.
func (c *session) errorInfo(slot uint16, t *tx) {
	a := message.Answer{Kind: message.ErrorInfoAnswer}
	_, cause := t.State()
	var e *store.Error
	if errors.As(cause, &e) {
		a.Error = &message.Error{Code: e.Code, Detail: e.Detail}
	}
	c.answerInfo(slot, a)
}

// explain says that there is a plan, and nothing of what it is.
func (c *session) explain(slot uint16, r *message.Request, st *statement) {
	if st == nil {
		if _, err := c.server.db.Prepare(r.SQL, nil); err != nil {
			c.refuse(slot, r.Kind, err)
			return
		}
	}
	c.reply(slot, message.Answer{Kind: message.ExplainAnswer, Format: "jogasaki-statement.json", Version: 1,
		Contents: `{"kind":"execute","graph":[]}`})
}
