package console_test

import (
	"html"
	"net/url"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/access"
	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/console"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// weigh opens the page that tells what an operation will do, and returns it with what its form sends.
func (r *rig) weigh(name, act string, said url.Values) (page string, form url.Values) {
	r.t.Helper()
	page = r.page("queue/default/" + name + "/do/" + act + "?" + said.Encode())
	form = url.Values{}
	for _, part := range strings.Split(page, `<input type="hidden" name="`)[1:] {
		field, rest, _ := strings.Cut(part, `" value="`)
		value, _, _ := strings.Cut(rest, `"`)
		if field != "back" { // of the form for the language
			form.Set(field, html.UnescapeString(value))
		}
	}
	return page, form
}

func (r *rig) operate(status int, name, act string, form url.Values) string {
	r.t.Helper()
	return r.want(status, r.request("POST", console.Base+"queue/default/"+name+"/do/"+act, form))
}

// bodies takes what is in a queue.
func (r *rig) bodies(name string) (all []string) {
	r.t.Helper()
	found, err := r.store.Peek(r.t.Context(), queue.Name{Namespace: queue.DefaultNamespace, Name: name},
		queue.PeekRequest{Max: 100})
	if err != nil {
		r.t.Fatal(err)
	}
	for i := range found {
		all = append(all, string(found[i].Body()))
	}
	return all
}

func (r *rig) wantBodies(name string, wanted ...string) {
	r.t.Helper()
	if got := r.bodies(name); strings.Join(got, " ") != strings.Join(wanted, " ") {
		r.t.Errorf("%s has %q, not %q", name, got, wanted)
	}
}

func TestMessagesAreMovedAsThePageSays(t *testing.T) {
	r := start(t, httpdoor.Config{})
	r.queue("orders", queue.Definition{}, "one", "two")
	if _, err := r.store.Put(t.Context(), queue.Name{Namespace: queue.DefaultNamespace, Name: "orders"},
		[]message.Message{{Body: []byte("eu"), Attributes: message.Attributes{{Name: "region",
			Value: message.String("eu")}}}}); err != nil {
		t.Fatal(err)
	}
	page, form := r.weigh("orders", "move", url.Values{"to": {"shop/all"}, "where": {"region = 'eu'"}})
	has(t, page, "1 message of default/orders will move to shop/all", "shop/all is not there yet.",
		"hikyaku queue move default/orders shop/all --where &#39;region = &#39;\\&#39;&#39;eu&#39;\\&#39;&#39;&#39;")
	r.wantBodies("orders", "one", "two", "eu") // nothing is done by looking
	r.operate(404, "orders", "move", form)     // this store makes no queues by their names
	if _, err := r.store.CreateQueue(t.Context(), queue.Name{Namespace: "shop", Name: "all"},
		queue.Definition{}); err != nil {
		t.Fatal(err)
	}
	has(t, r.operate(200, "orders", "move", form), "Moved: 1 message.")
	r.wantBodies("orders", "one", "two")
	has(t, r.want(400, r.request("GET", console.Base+"queue/default/orders/do/move?to=orders", nil)),
		"Name another queue")
	r.want(404, r.request("GET", console.Base+"queue/default/orders/do/none", nil))
	r.operate(404, "orders", "none", nil)
}

func TestAMessageIsClaimedLookedAtAndSettled(t *testing.T) {
	r := start(t, httpdoor.Config{})
	r.queue("jobs", queue.Definition{}, "one", "two", "three")
	claim := func() string {
		return r.want(200, r.request("POST", console.Base+"queue/default/jobs/claim", nil))
	}
	settle := func(status int, sequence string, form url.Values) string {
		return r.want(status, r.request("POST", console.Base+"letter/default/jobs/"+sequence+"/settle", form))
	}
	page := claim()
	has(t, page, "It is claimed for 5m00s, attempt 1.", "letter/default/jobs/1/settle", ">one<")
	lacks(t, page, "token")
	lacks(t, r.page("letter/default/jobs/2"), "/settle") // another one is not held
	has(t, settle(409, "2", url.Values{"as": {"done"}}), "does not hold the message")
	has(t, settle(200, "1", url.Values{"as": {"done"}}), "the message is gone")
	settle(409, "1", url.Values{"as": {"done"}})
	claim()
	has(t, settle(200, "2", url.Values{"as": {"dead"}, "reason": {"no address"}}), "is a dead letter")
	claim()
	has(t, settle(200, "3", url.Values{"as": {"back"}}), "is back in its place")
	r.wantBodies("jobs", "three")
	has(t, r.page("dead?queue=default/jobs_dead"), "no address")
	if _, err := r.store.Purge(t.Context(), queue.Name{Namespace: queue.DefaultNamespace, Name: "jobs"}); err != nil {
		t.Fatal(err)
	}
	has(t, claim(), "There is nothing to claim.")
}

func TestDeadLettersAreSentAgainByTheirReasonAndFollowed(t *testing.T) {
	r := start(t, httpdoor.Config{})
	r.queue("jobs", queue.Definition{}, "a", "b", "c")
	for _, reason := range []string{"no address", "no address", "no name"} {
		claims, err := r.store.Claim(t.Context(), queue.ClaimRequest{From: []queue.From{{Queue: queue.Name{
			Namespace: queue.DefaultNamespace, Name: "jobs"}}}, Max: 1})
		if err != nil || len(claims) != 1 {
			t.Fatal(claims, err)
		}
		if _, err := r.store.Settle(t.Context(), []queue.Settlement{{Token: claims[0].Token, Kind: queue.Dead,
			Reason: reason}}); err != nil {
			t.Fatal(err)
		}
	}
	has(t, r.page("dead?queue=default/jobs_dead"), "do/replay?reason=no+address", "do/replay?reason=no+name")
	page, form := r.weigh("jobs_dead", "replay", url.Values{"reason": {"no address"}})
	has(t, page, "2 messages of default/jobs_dead will go back", "2 messages → default/jobs", "id in (")
	page = r.operate(200, "jobs_dead", "replay", form)
	has(t, page, "Sent again: 2 messages.")
	if n := strings.Count(page, `<a data-c=`); n != 2 {
		t.Errorf("%d messages are followed: %s", n, page)
	}
	r.wantBodies("jobs", "a", "b")
	r.wantBodies("jobs_dead", "c")
	page, form = r.weigh("jobs_dead", "replay", url.Values{"where": {"attempts < 9"}})
	has(t, page, "1 message of default/jobs_dead will go back")
	r.operate(200, "jobs_dead", "replay", form)
	r.wantBodies("jobs", "a", "b", "c")
	r.operate(400, "jobs_dead", "replay", form) // there is none left
}

func TestAQueueIsAlteredTakenBackAndDeletedAsThePageSays(t *testing.T) {
	r := start(t, httpdoor.Config{})
	day := httpdoor.Duration(24 * 3600e9)
	r.queue("jobs", queue.Definition{MaxAttempts: 3, History: 24 * 3600e9}, "one")
	has(t, r.page("queue/default/jobs"), "do/seek", `name="max_attempts" type="number" min="0" value="3"`)
	page, form := r.weigh("jobs", "alter", url.Values{"max_attempts": {"5"}, "lease": {"30s"}})
	has(t, page, "max_attempts: 3 → 5", "hikyaku queue alter default/jobs --max-attempts 5<")
	has(t, r.operate(200, "jobs", "alter", form), "Altered: max_attempts: 3 → 5.")
	has(t, r.operate(400, "jobs", "alter", form), "is like this already")
	s, err := r.store.Stats(t.Context(), queue.Name{Namespace: queue.DefaultNamespace, Name: "jobs"})
	if err != nil || s.Definition.MaxAttempts != 5 || httpdoor.Duration(s.Definition.History) != day {
		t.Errorf("%+v %v", s.Definition, err)
	}
	r.want(200, r.request("POST", console.Base+"queue/default/jobs/claim", nil))
	r.want(200, r.request("POST", console.Base+"letter/default/jobs/1/settle", url.Values{"as": {"done"}}))
	page, form = r.weigh("jobs", "seek", url.Values{"ago": {"1h"}})
	has(t, page, "Of the settled messages that are kept, 1 message,", "hikyaku queue seek default/jobs --time ")
	has(t, r.operate(200, "jobs", "seek", form), "Back: 1 message. Settled: 0 messages.")
	page, form = r.weigh("jobs", "delete", nil)
	has(t, page, "1 message of default/jobs will be gone.", `name="name" required`)
	r.operate(400, "jobs", "delete", form)
	form.Set("name", "jobs")
	has(t, r.operate(200, "jobs", "delete", form), "Deleted: default/jobs.", "<h1>Queues</h1>")
}

func TestWhatAUserMayNotDoIsNotOffered(t *testing.T) {
	grant := func(on string, can ...string) []access.Grant { return []access.Grant{{Can: can, On: []string{on}}} }
	r := start(t, httpdoor.Config{},
		access.User{Name: "keeper", Secret: "keeper-secret", Grants: grant("news*", "take", "admin")},
		access.User{Name: "reader", Secret: "reader-secret", Grants: grant("news", "take")})
	r.queue("news", queue.Definition{}, "one")
	r.queue("other", queue.Definition{})
	r.user = "reader"
	page := r.page("queue/default/news")
	has(t, page, "/claim")
	lacks(t, page, "/put", "/purge", "/do/")
	r.operate(403, "news", "move", url.Values{"to": {"news2"}})
	r.user = "keeper"
	page = r.page("queue/default/news")
	has(t, page, "/claim", "/purge", "/do/move", "/do/delete")
	lacks(t, page, "/put", "/do/seek") // it keeps no history
	has(t, r.want(403, r.request("GET", console.Base+"queue/default/news/do/move?to=other", nil)),
		"You may not put messages into default/other.")
	read := start(t, httpdoor.Config{Console: "read"})
	read.queue("news", queue.Definition{}, "one")
	page, form := read.weigh("news", "delete", nil)
	has(t, page, "This console is read-only.")
	form.Set("name", "news")
	read.operate(403, "news", "delete", form)
}
