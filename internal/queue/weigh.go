package queue

import "github.com/hikyaku/hikyaku/internal/message"

// About what definitions take in memory beside their texts: an empty queue, topic or snapshot with its places in the
// lists; a column, a value that messages from before an alteration have, a label; for each byte of a filter, what it is
// compiled to; and of a snapshot, for each page that has messages, which of them it holds.
const (
	queueResident    = 2 << 10
	topicResident    = 640
	snapshotResident = 1 << 10
	columnResident   = 176
	fieldResident    = 72
	labelResident    = 128
	filterResident   = 64
	blockResident    = 64
)

// resident is about what a queue with that definition takes in memory, without its messages.
func (d *Definition) resident(n Name) int64 {
	bytes := queueResident + 3*(len(n.Namespace)+len(n.Name)) + len(d.DeadLetter)
	for i := range d.Columns {
		bytes += columnSize(&d.Columns[i])
	}
	return int64(bytes) + labelsResident(d.Labels) + d.topicResident()
}

// topicResident is what the topic and the filter of a subscription take of that.
func (d *Definition) topicResident() int64 { return int64(len(d.Topic) + filterResident*len(d.Filter)) }

func columnSize(c *message.Column) int {
	bytes := columnResident + len(c.Name) + len(c.Charset) + len(c.Collation)
	for _, m := range c.Members {
		bytes += 16 + len(m)
	}
	if c.Default != nil {
		bytes += 48 + c.Default.Size()
	}
	return bytes
}

func labelsResident(labels map[string]string) (bytes int64) {
	for k, v := range labels {
		bytes += int64(labelResident + len(k) + len(v))
	}
	return bytes
}

func topicWeight(n Name, labels map[string]string) int64 {
	return topicResident + int64(2*(len(n.Namespace)+len(n.Name))) + labelsResident(labels)
}

func snapshotWeight(n Name, labels map[string]string) int64 {
	return snapshotResident + int64(2*(len(n.Namespace)+len(n.Name))) + labelsResident(labels)
}

// formerWeight is what a name counts that a queue had.
func formerWeight(n Name) int64 { return int64(len(n.Namespace) + len(n.Name) + labelResident) }

func (s *state) weighTopic(t *topicState) {
	weight := topicWeight(t.name, t.labels)
	s.resident += weight - t.weight
	t.weight = weight
}

// weigh counts what the queue takes in memory by now beside its messages.
func (q *queueState) weigh() {
	if q.counts == nil {
		return
	}
	weight := q.def.resident(q.name)
	for _, n := range q.former {
		weight += formerWeight(n)
	}
	weight += residentOfLayouts(q.layouts)
	*q.counts += weight - q.weight
	q.weight = weight
}

// residentOfLayouts is about what layouts take in memory. What neighbours share counts once: a value from before, and
// the types that values have gone through.
func residentOfLayouts(layouts []*layout) (bytes int64) {
	for n, l := range layouts {
		bytes += fieldResident * int64(len(l.fields))
		for i := range l.fields {
			if f := &l.fields[i]; n == 0 || i >= len(layouts[n-1].fields) || f.value != layouts[n-1].fields[i].value {
				bytes += int64(f.value.Size())
			}
		}
	}
	if len(layouts) == 0 {
		return 0
	}
	for i := range layouts[0].fields {
		for _, c := range longest(layouts, i) {
			bytes += int64(columnSize(&c))
		}
	}
	return bytes
}
