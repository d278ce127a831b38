package rows

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hikyaku/hikyaku/internal/component"
)

// attempt writes a block in one transaction. An error says that one of its rows is refused: the one at row, or some one
// where that is -1. Whatever else happened, the messages have their outcomes, or are stale.
func (w *writing) attempt(b *Block, from []int) (row int, refused error) {
	unsure := false // whether it was done already
	for conflicts := 0; ; {
		switch {
		case w.stop != nil:
			w.answer(from, *w.stop)
			return 0, nil
		case w.drifted:
			w.stale = append(w.stale, from...)
			return 0, nil
		case w.ctx.Err() != nil:
			w.end(w.late(nil))
			continue
		}
		if err := w.need(); err != nil {
			w.end(w.failed(err))
			continue
		}
		used := w.session.used
		w.session.used = true
		b.missed = b.missed[:0]
		err := w.session.Write(w.ctx, b)
		if err == nil {
			w.sink.counts.blocks.Add(1)
			w.sink.counts.rows.Add(uint64(b.Rows() - len(b.missed)))
			w.answer(from, component.Outcome{})
			w.missed(b, from, unsure)
			return 0, nil
		}
		fault := w.sink.driver.Judge(err)
		if fault.Broken || fault.Class == Unknown || w.ctx.Err() != nil {
			w.lose()
		}
		err = fmt.Errorf("table %s: %w", b.Table.Name, err)
		switch fault.Class {
		case Conflict:
			w.sink.counts.conflicts.Add(1)
			if conflicts++; conflicts <= mostConflicts {
				w.jitter(conflicts)
				continue
			}
			o := component.Hold(0, err) // no row is at fault
			o.Slow = true
			w.end(o)
		case BadRow:
			if !w.looked {
				w.looked = true
				if w.changed() {
					w.drifted = true
					continue
				}
			}
			return fault.Row, errors.Unwrap(err)
		case Drift, NoTable:
			w.sink.counts.drifts.Add(1)
			w.drifted = true
		case Unknown:
			unsure = true
			if w.unknowns++; b.Mode != Insert && w.unknowns <= mostUnknowns {
				continue // it does no harm
			}
			w.answer(from, w.unknown(b, err))
			return 0, nil
		case Refused:
			// No row is at fault: they wait until somebody has given us the right. It is no try of any message.
			w.end(component.Hold(pause, err))
		default:
			switch {
			case w.ctx.Err() != nil:
				w.end(w.late(err))
			case !fault.Broken:
				w.end(component.Hold(pause, err)) // full, shutting down: no row is at fault
			case w.deaths >= mostDeaths:
				w.end(component.Again(0, err))
			case used:
				w.deaths++ // it may just have ended while it waited: another one
			default:
				// A new session does not survive this block. That may be the block's doing: its rows are tried apart,
				// so that not all wait for one.
				w.deaths++
				if b.Rows() > 1 {
					return -1, err
				}
				w.answer(from, component.Again(0, err))
				return 0, nil
			}
		}
	}
}

// missed answers for the rows of a block that the table did not have. A deletion whose first end is not known may have
// been made then.
func (w *writing) missed(b *Block, from []int, unsure bool) {
	if len(b.missed) == 0 || unsure && b.Mode == Delete {
		return
	}
	w.sink.counts.noSuchRow.Add(uint64(len(b.missed)))
	if !w.sink.settings.strictRows {
		return
	}
	err := fmt.Errorf("table %s: %w: none has the message's %s", b.Table.Name, ErrNoRow,
		strings.Join(w.plan.keys, ", "))
	for _, row := range b.missed {
		w.outcomes[from[row]] = component.Reject(err)
	}
}

// end answers for everything that is not written yet.
func (w *writing) end(o component.Outcome) { w.stop = &o }

// unknown is the outcome of a transaction that may have been made or not.
func (w *writing) unknown(b *Block, err error) component.Outcome {
	if b.Mode == Insert {
		w.sink.counts.maybeDoubled.Add(uint64(b.Rows()))
		err = fmt.Errorf("%w (it may have been committed and be written twice; with id_column nothing is)", err)
	}
	return component.Again(0, err)
}

// changed looks whether the table is another than the rows were made for.
func (w *writing) changed() bool {
	if w.need() != nil {
		return false
	}
	p, err := w.sink.schema.look(w.ctx, w.session, w.plan, false, w.batch)
	if err == nil {
		return p != w.plan
	}
	if w.sink.broken(w.ctx, err) {
		w.lose()
	}
	return w.sink.driver.Judge(err).Class == NoTable
}
