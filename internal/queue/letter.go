package queue

import "github.com/hikyaku/hikyaku/internal/message"

// deadLetter is a message on its way to a dead-letter queue, or to the subscriptions of a topic.
type deadLetter struct {
	from   *queueState
	entry  entry
	copies []letterCopy
}

// letterCopy is what one queue gets of a dead letter.
type letterCopy struct {
	to      *queueState
	columns message.Columns // of to, for which the message was made
	message message.Message
}

// putLetter plans the copies of a dead letter. Those for queues without columns are alike: several have one body.
func (p *plan) putLetter(d *deadLetter) error {
	alike := copying{plan: p, body: -1}
	for i := range d.copies {
		c := &d.copies[i]
		var err error
		if c.columns == nil && len(d.copies) > 1 {
			if alike.message == nil {
				alike.message, alike.size = &c.message, c.message.Size()
			}
			_, err = alike.share(c.to)
		} else {
			_, err = p.put(c.to, &c.message, true)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func sameColumns(a, b message.Columns) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].String() != b[i].String() {
			return false
		}
	}
	return true
}
