package console

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// operation is an act on a queue that a page weighs before it is done: what it will do, with numbers, and which command
// does the same.
type operation struct {
	weigh func(context.Context, *asking, *weighed) error
	do    func(context.Context, *asking) (outcome, error)
}

// operations are those that there are, by the last part of the path.
var operations = map[string]operation{
	"move":   {weighMove, move},
	"seek":   {weighSeek, seek},
	"alter":  {weighAlter, alter},
	"delete": {weighDelete, remove},
	"replay": {weighReplay, replay},
}

// weighed is what an operation will do.
type weighed struct {
	Queue  queue.Name
	Act    string
	Title  string
	Button string
	Lines  []string
	Words  []string    // of the command
	Fields [][2]string // what the form says of it
	Name   bool        // the name of the queue has to be typed
}

// Slow implements what each looks for: weighing may count messages.
func (w *weighed) Slow() bool { return true }

// says adds what will be done.
func (w *weighed) says(text string) { w.Lines = append(w.Lines, text) }

// field gives the form a field and the command a flag, if there is something to say.
func (w *weighed) field(name, flag, value string) {
	if value != "" {
		w.Fields = append(w.Fields, [2]string{name, value})
		w.Words = append(w.Words, flag, value)
	}
}

func weigh(ctx context.Context, a *asking) (any, error) {
	o, known := operations[a.r.PathValue("act")]
	if !known {
		return notFound.data(ctx, a)
	}
	w := &weighed{Queue: a.queue(), Act: a.r.PathValue("act")}
	return w, o.weigh(ctx, a, w)
}

// operate does what was weighed.
func operate(ctx context.Context, a *asking) (outcome, error) {
	o, known := operations[a.r.PathValue("act")]
	if !known {
		return outcome{}, &httpdoor.Problem{Title: a.T("there is no such act"), Status: http.StatusNotFound}
	}
	return o.do(ctx, a)
}

// CommandOf is Command.
func (v *view) CommandOf(words []string) template.HTML { return v.Command(words...) }

// OperatePath is the path, below Base, of the page that weighs an operation on a queue.
func (v *view) OperatePath(name, act string, pairs ...string) string {
	return v.QueuePath(name) + "/do/" + act + "?" + query(pairs...)
}

// field is what a form says, before and when it is done.
func (a *asking) field(name string) string {
	if a.r.Method == http.MethodPost {
		return a.r.PostForm.Get(name)
	}
	return a.r.URL.Query().Get(name)
}

func (a *asking) mistake(title, detail string) error {
	return &httpdoor.Problem{Title: title, Detail: detail, Status: http.StatusBadRequest}
}

// may is what who looks may do with a name.
type may []string

// Do tells whether it is granted.
func (m may) Do(action string) bool { return slices.Contains(m, action) }

func (a *asking) may(ctx context.Context, n queue.Name) (may, error) {
	m, err := a.door.May(ctx, n)
	return m.Can, err
}

// matching are the messages of a queue that meet a condition and that nobody has claimed, so many as are counted. more
// tells that there may be others.
func (a *asking) matching(ctx context.Context, n queue.Name, where string) (found []httpdoor.Peeked, more bool,
	err error) {
	found, more, err = a.peek(ctx, n, httpdoor.PeekRequest{Where: where, Max: deadSample, NoBody: true})
	return slices.DeleteFunc(found, func(m httpdoor.Peeked) bool { return m.State == string(queue.Claimed) }), more, err
}

// atLeast is a number of messages that were counted, all of them or up to a bound.
func (a *asking) atLeast(n int, more bool) string {
	if more {
		return a.T("at least %s", a.Messages(n))
	}
	return a.Messages(n)
}

// named wants the name of the queue of the path, as it was typed.
func (a *asking) named(title string) error {
	if typed := a.r.PostForm.Get("name"); typed != a.queue().Name {
		return a.mistake(title, a.T("%q is not the name of the queue.", typed))
	}
	return nil
}

func weighMove(ctx context.Context, a *asking, w *weighed) error {
	to := a.field("to")
	target, err := queue.ParseName(to)
	if err != nil || target == w.Queue {
		return a.mistake(a.T("Nothing was moved"), a.T("Name another queue, as NAME or NAMESPACE/NAME."))
	}
	found, more, err := a.matching(ctx, w.Queue, a.field("where"))
	if err != nil {
		return err
	}
	granted, err := a.may(ctx, target)
	if err != nil {
		return err
	}
	if !granted.Do("put") {
		return &httpdoor.Problem{Title: a.T("Nothing was moved"), Status: http.StatusForbidden,
			Detail: a.T("You may not put messages into %s.", target.String())}
	}
	w.Title, w.Button = a.T("Move messages"), a.T("Move")
	w.says(a.T("%s of %s will move to %s, to its end and without attempts.", a.atLeast(len(found), more),
		w.Queue.String(), target.String()))
	if _, err := a.door.Stats(ctx, target); err != nil {
		w.says(a.T("%s is not there yet.", target.String()))
	}
	w.Words = []string{"queue", "move", w.Queue.String(), target.String()}
	w.Fields = [][2]string{{"to", target.String()}}
	w.field("where", "--where", a.field("where"))
	w.field("max", "--max", a.field("max"))
	return nil
}

func move(ctx context.Context, a *asking) (outcome, error) {
	n := a.queue()
	most, _ := strconv.Atoi(a.field("max")) // not said: all
	did, err := a.door.Replay(ctx, n, httpdoor.ReplayRequest{Where: a.field("where"), Max: most, To: a.field("to")})
	return outcome{to: a.page(n), said: a.T("Moved: %s.", a.Messages(did.Moved))}, err
}

func weighSeek(ctx context.Context, a *asking, w *weighed) error {
	at, err := time.Parse(time.RFC3339, a.field("time"))
	if err != nil {
		ago, err := httpdoor.ParseDuration(a.field("ago"))
		if err != nil {
			return a.mistake(a.T("Nothing was done"), err.Error())
		}
		at = a.Now.Add(-time.Duration(ago)).UTC()
	}
	s, err := a.door.Stats(ctx, w.Queue)
	if err != nil {
		return err
	}
	w.Title, w.Button = a.T("Go back in time"), a.T("Go")
	w.says(a.T("Of the settled messages that are kept, %s, those put since then wait again.", a.Messages(s.Past)))
	w.says(a.T("Of those that are in the queue, %s, those put before it are settled.", a.Messages(s.Messages)))
	if s.Definition.History == 0 {
		w.says(a.T("The queue keeps no history: what is settled is gone for good."))
	}
	w.Words = []string{"queue", "seek", w.Queue.String()}
	w.field("time", "--time", at.Format(time.RFC3339))
	return nil
}

func seek(ctx context.Context, a *asking) (outcome, error) {
	n := a.queue()
	at, err := time.Parse(time.RFC3339, a.field("time"))
	if err != nil {
		return outcome{}, a.mistake(a.T("Nothing was done"), err.Error())
	}
	did, err := a.door.Seek(ctx, n, httpdoor.SeekRequest{Time: &at})
	return outcome{to: a.page(n), said: a.T("Back: %s. Settled: %s.", a.Messages(did.Back),
		a.Messages(did.Settled))}, err
}

// altered are the fields that a form changes, with a line for each and what a command says of them.
func (a *asking) altered(ctx context.Context) (change map[string]any, w weighed, err error) {
	s, err := a.door.Stats(ctx, a.queue())
	if err != nil {
		return nil, w, err
	}
	change = map[string]any{}
	set := func(name, flag, now, wanted string, value any) {
		if now == wanted {
			return
		}
		change[name] = value
		w.says(fmt.Sprintf("%s: %s → %s", name, now, wanted))
		w.Fields = append(w.Fields, [2]string{name, wanted})
		w.Words = append(w.Words, flag, wanted)
	}
	d := &s.Definition
	if text := a.field("max_attempts"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, w, a.mistake(a.T("Nothing was altered"), "max_attempts: "+err.Error())
		}
		set("max_attempts", "--max-attempts", strconv.Itoa(d.MaxAttempts), strconv.Itoa(n), n)
	}
	if text := a.field("lease"); text != "" {
		lease, err := httpdoor.ParseDuration(text)
		if err != nil {
			return nil, w, a.mistake(a.T("Nothing was altered"), "lease: "+err.Error())
		}
		set("lease", "--lease", d.Lease.String(), lease.String(), lease)
	}
	if text := a.field("dead_letter"); text != "" {
		set("dead_letter", "--dead-letter", d.DeadLetter, text, text)
	}
	if len(change) == 0 {
		return nil, w, a.mistake(a.T("Nothing was altered"), a.T("The queue is like this already."))
	}
	return change, w, nil
}

func weighAlter(ctx context.Context, a *asking, w *weighed) error {
	_, changes, err := a.altered(ctx)
	if err != nil {
		return err
	}
	s, err := a.door.Stats(ctx, w.Queue)
	if err != nil {
		return err
	}
	w.Title, w.Button, w.Fields = a.T("Alter the queue"), a.T("Alter"), changes.Fields
	w.Lines = append(changes.Lines, a.T("It is so for what is in the queue, too: %s.", a.Messages(s.Messages)))
	w.Words = append([]string{"queue", "alter", w.Queue.String()}, changes.Words...)
	return nil
}

func alter(ctx context.Context, a *asking) (outcome, error) {
	change, w, err := a.altered(ctx)
	if err == nil {
		_, err = a.door.AlterQueue(ctx, a.queue(), change)
	}
	return outcome{to: a.page(a.queue()), said: a.T("Altered: %s.", strings.Join(w.Lines, ", "))}, err
}

func weighDelete(ctx context.Context, a *asking, w *weighed) error {
	s, err := a.door.Stats(ctx, w.Queue)
	if err != nil {
		return err
	}
	w.Title, w.Button, w.Name = a.T("Delete the queue"), a.T("Delete"), true
	w.says(a.T("%s of %s will be gone.", a.Messages(s.Messages), w.Queue.String()))
	if s.Claimed > 0 {
		w.says(a.T("Claimed of them: %s.", a.Messages(s.Claimed)))
	}
	if s.Past > 0 {
		w.says(a.T("Settled ones that are kept will be gone, too: %s.", a.Messages(s.Past)))
	}
	w.Words = []string{"queue", "rm", w.Queue.String()}
	return nil
}

func remove(ctx context.Context, a *asking) (outcome, error) {
	if err := a.named(a.T("Nothing was deleted")); err != nil {
		return outcome{}, err
	}
	err := a.door.DeleteQueue(ctx, a.queue())
	return outcome{to: "queues", said: a.T("Deleted: %s.", a.queue().String())}, err
}

// lettersOf are the dead letters that a form means: one by its id, those of a reason, or those that meet a condition.
// where is a condition that they alone meet.
func (a *asking) lettersOf(ctx context.Context) (found []httpdoor.Peeked, more bool, where string, err error) {
	where = a.field("where")
	if id := a.field("id"); id != "" {
		if _, err := message.ParseID(id); err != nil {
			return nil, false, "", a.mistake(a.T("Nothing was sent"), err.Error())
		}
		where = "id = '" + id + "'"
	}
	if found, more, err = a.matching(ctx, a.queue(), where); err != nil {
		return nil, false, "", err
	}
	if reason := a.field("reason"); reason != "" {
		found = slices.DeleteFunc(found, func(m httpdoor.Peeked) bool {
			return m.Death == nil || m.Death.Reason != reason
		})
		ids := make([]string, len(found))
		for i := range found {
			ids[i] = "'" + found[i].ID + "'"
		}
		more = false // only these are sent
		where = "id in (" + strings.Join(ids, ", ") + ")"
	}
	if len(found) == 0 {
		return nil, false, "", a.mistake(a.T("Nothing was sent"), a.T("No message meets the condition."))
	}
	return found, more, where, nil
}

func weighReplay(ctx context.Context, a *asking, w *weighed) error {
	found, more, where, err := a.lettersOf(ctx)
	if err != nil {
		return err
	}
	homes, from := map[string]int{}, []string(nil)
	homeless := 0
	for i := range found {
		d := found[i].Death
		if d == nil || d.Queue == "" {
			homeless++
			continue
		}
		if homes[d.Queue]++; homes[d.Queue] == 1 {
			from = append(from, d.Queue)
		}
	}
	w.Title, w.Button = a.T("Send dead letters again"), a.T("Send again")
	w.says(a.T("%s of %s will go back to where they came from:", a.atLeast(len(found)-homeless, more),
		w.Queue.String()))
	for _, name := range from {
		w.says(fmt.Sprintf("%s → %s", a.Messages(homes[name]), name))
	}
	if homeless > 0 {
		w.says(a.T("%s came from no queue, and will stay.", a.Messages(homeless)))
	}
	w.Words = []string{"queue", "replay", w.Queue.String()}
	if where != "" {
		w.Words = append(w.Words, "--where", where)
	}
	for _, name := range []string{"where", "id", "reason"} {
		if text := a.field(name); text != "" {
			w.Fields = append(w.Fields, [2]string{name, text})
		}
	}
	return nil
}

// followed is how many messages that were sent again a page follows.
const followed = 20

func replay(ctx context.Context, a *asking) (outcome, error) {
	found, _, where, err := a.lettersOf(ctx)
	if err != nil {
		return outcome{}, err
	}
	did, err := a.door.Replay(ctx, a.queue(), httpdoor.ReplayRequest{Where: where})
	if err != nil {
		return outcome{}, err
	}
	said := a.T("Sent again: %s.", a.Messages(did.Moved))
	if did.Homeless > 0 {
		said += " " + a.T("%s came from no queue, and stayed.", a.Messages(did.Homeless))
	}
	ids := make([]string, min(len(found), followed))
	for i := range ids {
		ids[i] = found[i].ID
	}
	return outcome{to: "sent?" + query("queue", a.queue().String(), "ids", strings.Join(ids, ",")), said: said}, nil
}

// sent are messages that were sent again, and what has become of them so far.
type sent struct {
	Queue    string
	Messages []journeyed
}

type journeyed struct {
	ID   string
	Last httpdoor.JourneyHop // the zero value: it is not known
}

func showSent(ctx context.Context, a *asking) (any, error) {
	s := &sent{Queue: a.field("queue")}
	for _, id := range strings.SplitN(a.field("ids"), ",", followed+1) {
		if len(s.Messages) == followed {
			break
		}
		if _, err := message.ParseID(id); err != nil {
			continue
		}
		m := journeyed{ID: id}
		if j, err := a.door.Trace(ctx, id); err == nil && len(j.Hops) > 0 {
			m.Last = j.Hops[len(j.Hops)-1]
		}
		s.Messages = append(s.Messages, m)
	}
	return s, nil
}
