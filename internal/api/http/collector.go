package http

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// storeCollector reads the queues and the journal when Prometheus asks, so that nothing is counted twice.
type storeCollector struct {
	store Store
	most  int

	messages, bytes, waiters, oldest, total *prometheus.Desc
	examined, views, viewBytes              *prometheus.Desc
	queues, published, unheard              *prometheus.Desc
	groups, records, written, syncs         *prometheus.Desc
	journalBytes, segments                  *prometheus.Desc
	damaged, damageFound                    *prometheus.Desc
	scrubbed, scrubRounds, scrubEnd         *prometheus.Desc
}

func newStoreCollector(store Store, most int) *storeCollector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return &storeCollector{
		store: store, most: most,
		messages: desc("hikyaku_queue_messages", "Messages of a queue by state.", "queue", "state"),
		bytes:    desc("hikyaku_queue_bytes", "Bytes that a queue's messages count against limits.", "queue"),
		waiters:  desc("hikyaku_queue_waiters", "Claims that wait for a message.", "queue"),
		oldest: desc("hikyaku_queue_oldest_seconds",
			"Age of the oldest unclaimed message; 0 when there is none.", "queue"),
		total: desc("hikyaku_queue_events_total",
			"What happened to messages of a queue since it was made.", "queue", "event"),
		examined: desc("hikyaku_queue_examined_total",
			"Messages of a queue looked at one by one for conditions.", "queue"),
		views: desc("hikyaku_queue_views",
			"Indexes and conditions that a queue keeps for claims.", "queue", "kind"),
		viewBytes: desc("hikyaku_queue_view_bytes",
			"Memory of the indexes and conditions that a queue keeps for claims.", "queue", "kind"),
		queues: desc("hikyaku_queues", "Number of queues."),
		published: desc("hikyaku_topic_messages_total",
			"Messages published to a topic while it had a subscription.", "topic"),
		unheard: desc("hikyaku_topic_dropped_total",
			"Messages published to a topic while it had no subscription.", "topic"),
		groups:       desc("hikyaku_journal_groups_total", "Groups appended to the journal."),
		records:      desc("hikyaku_journal_records_total", "Records appended to the journal."),
		written:      desc("hikyaku_journal_written_bytes_total", "Bytes appended to the journal."),
		syncs:        desc("hikyaku_journal_syncs_total", "Syncs of the journal."),
		journalBytes: desc("hikyaku_journal_bytes", "Bytes of the journal: live ones are still needed.", "kind"),
		segments:     desc("hikyaku_journal_segments", "Files of the journal."),
		damaged: desc("hikyaku_journal_damaged_places",
			"Places of the journal's files that are known to be damaged or missing."),
		damageFound: desc("hikyaku_journal_damage_found_total",
			"Damaged places that were found while the journal was open, those that were mended among them."),
		scrubbed:    desc("hikyaku_journal_scrubbed_bytes_total", "Bytes read to look for damage."),
		scrubRounds: desc("hikyaku_journal_scrub_rounds_total", "Whole rounds of looking for damage."),
		scrubEnd: desc("hikyaku_journal_scrub_end_seconds",
			"When the last whole round of looking for damage ended, in Unix time; 0: none has yet."),
	}
}

// Describe implements prometheus.Collector.
func (s *storeCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		s.messages, s.bytes, s.waiters, s.oldest, s.total, s.examined, s.views, s.viewBytes, s.queues, s.published,
		s.unheard, s.groups, s.records, s.written, s.syncs, s.journalBytes, s.segments,
		s.damaged, s.damageFound, s.scrubbed, s.scrubRounds, s.scrubEnd,
	} {
		out <- d
	}
}

// collectTimeout is how long a store may take to say what there is: about what Prometheus waits for the whole answer.
const collectTimeout = 10 * time.Second

// Collect implements prometheus.Collector.
func (s *storeCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
	defer cancel()
	s.collectQueues(ctx, out)
	s.collectTopics(ctx, out)
	j := s.store.JournalStats()
	count := func(d *prometheus.Desc, v uint64) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v))
	}
	count(s.groups, j.Groups)
	count(s.records, j.Records)
	count(s.written, j.Bytes)
	count(s.syncs, j.Syncs)
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	gauge(s.journalBytes, float64(j.LiveBytes), "live")
	gauge(s.journalBytes, float64(j.TotalBytes), "all")
	gauge(s.segments, float64(j.Segments))
	gauge(s.damaged, float64(j.DamagedPlaces))
	count(s.damageFound, j.DamageFound)
	count(s.scrubbed, j.ScrubbedBytes)
	count(s.scrubRounds, j.ScrubRounds)
	end := 0.0
	if !j.Scrubbed.IsZero() {
		end = float64(j.Scrubbed.UnixMilli()) / 1000
	}
	gauge(s.scrubEnd, end)
}

// collectQueues shows the first queues by name each, and the others summed.
func (s *storeCollector) collectQueues(ctx context.Context, out chan<- prometheus.Metric) {
	names, err := s.store.Queues(ctx)
	if err != nil {
		out <- prometheus.NewInvalidMetric(s.queues, err)
		return
	}
	out <- prometheus.MustNewConstMetric(s.queues, prometheus.GaugeValue, float64(len(names)))
	var rest queue.Stats
	others := 0
	now := time.Now()
	for i, n := range names {
		stats, err := s.store.Stats(ctx, n)
		if err != nil {
			continue // deleted since
		}
		if i < s.most {
			s.collectQueue(out, n.String(), &stats, now)
			continue
		}
		others++
		sum(&rest, &stats)
	}
	if others > 0 {
		s.collectQueue(out, restLabel, &rest, now)
	}
}

// collectTopics shows the first topics by name each, and the others summed.
func (s *storeCollector) collectTopics(ctx context.Context, out chan<- prometheus.Metric) {
	names, err := s.store.Topics(ctx)
	if err != nil {
		out <- prometheus.NewInvalidMetric(s.published, err)
		return
	}
	show := func(name string, t queue.TopicStats) {
		out <- prometheus.MustNewConstMetric(s.published, prometheus.CounterValue, float64(t.TotalPublish), name)
		out <- prometheus.MustNewConstMetric(s.unheard, prometheus.CounterValue, float64(t.TotalDropped), name)
	}
	var rest queue.TopicStats
	others := 0
	for i, n := range names {
		stats, err := s.store.TopicStats(ctx, n)
		if err != nil {
			continue // deleted since
		}
		if i < s.most {
			show(n.String(), stats)
			continue
		}
		others++
		rest.TotalPublish += stats.TotalPublish
		rest.TotalDropped += stats.TotalDropped
	}
	if others > 0 {
		show(restLabel, rest)
	}
}

func sum(to, s *queue.Stats) {
	to.Ready += s.Ready
	to.Delayed += s.Delayed
	to.Claimed += s.Claimed
	to.Behind += s.Behind
	to.Bytes += s.Bytes
	to.Waiters += s.Waiters
	if !s.Oldest.IsZero() && (to.Oldest.IsZero() || s.Oldest.Before(to.Oldest)) {
		to.Oldest = s.Oldest
	}
	to.TotalPut += s.TotalPut
	to.TotalDuplicate += s.TotalDuplicate
	to.TotalClaims += s.TotalClaims
	to.TotalDone += s.TotalDone
	to.TotalDead += s.TotalDead
	to.TotalExpired += s.TotalExpired
	to.TotalPurged += s.TotalPurged
	to.TotalExamined += s.TotalExamined
	to.Views = append(to.Views, s.Views...)
}

func (s *storeCollector) collectQueue(out chan<- prometheus.Metric, label string, q *queue.Stats, now time.Time) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, append([]string{label}, labels...)...)
	}
	gauge(s.messages, float64(q.Ready), string(queue.Ready))
	gauge(s.messages, float64(q.Delayed), string(queue.Delayed))
	gauge(s.messages, float64(q.Claimed), string(queue.Claimed))
	gauge(s.messages, float64(q.Behind), string(queue.Waiting))
	gauge(s.bytes, float64(q.Bytes))
	gauge(s.waiters, float64(q.Waiters))
	age := 0.0
	if !q.Oldest.IsZero() {
		age = max(0, now.Sub(q.Oldest).Seconds())
	}
	gauge(s.oldest, age)
	for _, kind := range []queue.ViewKind{queue.ViewIndex, queue.ViewCondition} {
		n, bytes := 0, int64(0)
		for i := range q.Views {
			if q.Views[i].Kind == kind {
				n++
				bytes += q.Views[i].Bytes
			}
		}
		gauge(s.views, float64(n), string(kind))
		gauge(s.viewBytes, float64(bytes), string(kind))
	}
	out <- prometheus.MustNewConstMetric(s.examined, prometheus.CounterValue, float64(q.TotalExamined), label)
	for _, e := range []struct {
		event string
		n     uint64
	}{
		{"put", q.TotalPut}, {"duplicate", q.TotalDuplicate}, {"claim", q.TotalClaims}, {"done", q.TotalDone},
		{"dead", q.TotalDead}, {"expired", q.TotalExpired}, {"purged", q.TotalPurged},
	} {
		out <- prometheus.MustNewConstMetric(s.total, prometheus.CounterValue, float64(e.n), label, e.event)
	}
}
