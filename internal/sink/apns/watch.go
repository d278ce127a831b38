package apns

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push/dead"
	"github.com/hikyaku/hikyaku/internal/push/suspect"
)

// mostTopics is how many topics of an app have a watch of their own. Messages name topics, so there may be any number;
// the others share one.
const mostTopics = 20

// watches are those over the answers to an app's pushes, by topic.
type watches struct {
	config func(topic string) suspect.Config

	mu  sync.Mutex
	all map[string]*suspect.Watch
}

// of is the watch of a topic.
func (ws *watches) of(topic string) *suspect.Watch {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w := ws.all[topic]; w != nil {
		return w
	}
	if len(ws.all) >= mostTopics {
		topic = ""
	}
	w := ws.all[topic]
	if w == nil {
		if ws.all == nil {
			ws.all = map[string]*suspect.Watch{}
		}
		w = suspect.New(ws.config(topic))
		ws.all[topic] = w
	}
	return w
}

func (ws *watches) each(f func(*suspect.Watch)) {
	ws.mu.Lock()
	all := make([]*suspect.Watch, 0, len(ws.all))
	for _, w := range ws.all {
		all = append(all, w)
	}
	ws.mu.Unlock()
	for _, w := range all {
		f(w)
	}
}

// why is for what one of them lets requests wait; nil: none does.
func (ws *watches) why() (why error) {
	ws.each(func(w *suspect.Watch) { why = cmp.Or(why, w.Why()) })
	return why
}

// apart tells whether a topic has a watch of its own.
func (ws *watches) apart(topic string) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return topic != "" && ws.all[topic] != nil
}

// mistake says what is probably wrong with a topic's pushes. What is to be done comes first: the log cuts long reasons.
func (a *app) mistake(topic string, percent int, seen suspect.Seen) error {
	if topic != "" && !a.owns(topic) {
		return fmt.Errorf("topic %q of app %s rests: cancel the messages that name it (hikyaku campaign cancel), put right "+
			"what names it, or raise suspect_percent (%d) if so many tokens are stale: %d of the last %d answers refuse "+
			"it, or the device's token for it, so the messages that name it (attribute topic) are probably wrong, or the "+
			"app's key is not for it; no device is taken for gone by it, and no message is lost",
			topic, a.name, percent, seen.Doubts, seen.Answers)
	}
	return fmt.Errorf("app %s rests: check environment (%s) and topic of apps.%s, or raise suspect_percent (%d) if so "+
		"many tokens are stale: %d of the last %d answers for topic %q refuse the topic, or the device's token for it, so "+
		"the tokens are probably of another app or environment, or the topic is wrong; no device is taken for gone by "+
		"it, and no message is lost",
		a.name, a.config.Environment, a.name, percent, seen.Doubts, seen.Answers, cmp.Or(topic, "(one of many)"))
}

// owns tells whether a topic is one of the app's.
func (a *app) owns(topic string) bool {
	for _, end := range pushTypes {
		if topic == a.topic+end {
			return true
		}
	}
	return false
}

// of is what deaths of an app's devices are kept by beside its name; "": that of production and the app's own topic.
func (a *app) of(topic string) string {
	if a.config.Environment == defaultEnvironment && topic == a.topic {
		return ""
	}
	return a.config.Environment + " " + topic
}

// topic is the topic that the message goes to.
func (d *delivery) topic() string { return cmp.Or(d.wish.topic, d.app.topicOf(d.kind())) }

// watched sends the message when the watch over its topic lets it go. Broadcasts have no device and no watch.
func (d *delivery) watched() {
	if d.wish.channel != "" {
		d.enter()
		return
	}
	w, kind := d.app.watches.of(d.topic()), suspect.KindOf(d.Message)
	if w.Try(&d.pass, d.wish.token, kind) {
		d.enter()
		return
	}
	w.Enter(&d.pass, d.wish.token, kind,
		func(wait time.Duration, why error) {
			if wait > 0 {
				d.answer(component.Hold(wait, why))
				return
			}
			d.enter()
		})
}

// doubt deals with an answer that means that the device is gone, or, of a topic, that the message is wrong; or that the
// app is.
func (d *delivery) doubt(what verdict, reason *Refusal, sent time.Time) {
	now := d.sink.clock()
	d.pass.Doubt(func(v suspect.Verdict, first bool) {
		death := d.death(now, reason)
		switch {
		case v == suspect.Mistake && first:
			o := component.Hold(time.Second, reason)
			o.Sent = sent
			d.Done(o)
		case what == mistopic && first:
			o := component.Reject(reason)
			o.Sent = sent
			d.Done(o)
		case v == suspect.Gone && what == doubts && d.app.owns(d.topic()):
			d.bury(death, reason, first)
		case first: // unclear, or a topic that is not the app's: nothing follows for the device
			death.Suspect = true
			d.bury(death, fmt.Errorf("%w: the device may be gone, or topic %q in environment %s may be wrong", reason,
				d.topic(), d.app.config.Environment), true)
		}
	})
}

// death is what is reported of the device.
func (d *delivery) death(since time.Time, reason *Refusal) dead.Death {
	w := &d.wish
	return dead.Death{
		App: d.app.name, Of: d.app.of(d.topic()), Token: w.token[:min(len(w.token), maxToken)],
		Since: since, Reason: reason.Reason, Status: reason.Status, Message: d.Message.ID,
	}
}
