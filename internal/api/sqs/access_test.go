package sqs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	client "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

func newUsers(t *testing.T) *access.Users {
	t.Helper()
	users, err := access.New([]access.User{
		{Name: "admin", Secret: "admin's secret",
			Grants: []access.Grant{{Can: []string{"put", "take", "admin"}, On: []string{"*"}}}},
		{Name: "collector", Secret: "collector's secret",
			Grants: []access.Grant{{Can: []string{"put"}, On: []string{"news*"}}}},
		{Name: "sender", Secret: "sender's secret",
			Grants: []access.Grant{{Can: []string{"take"}, On: []string{"news"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return users
}

func TestWrongSecretsAreSlowedByTheirAddress(t *testing.T) {
	clock := new(fakeClock)
	s, stop := openStore(t, t.TempDir(), clock.now, queue.Limits{})
	t.Cleanup(stop)
	users := newUsers(t)
	var mu sync.Mutex
	failed, address := map[string]int{}, ""
	users.Watch(func(_, reason string) {
		mu.Lock()
		defer mu.Unlock()
		failed[reason]++
	}, func(f access.Failure) {
		mu.Lock()
		defer mu.Unlock()
		address = f.Address
	})
	r := newRigOver(t, Config{}, users, s, clock)
	var all sync.WaitGroup
	for i := range 30 { // of one name so many would not be slowed
		guesser := r.as("admin", fmt.Sprint("guess ", i))
		all.Go(func() {
			_, err := guesser.ListQueues(t.Context(), &client.ListQueuesInput{},
				func(o *client.Options) { o.RetryMaxAttempts = 1 })
			if err == nil {
				t.Error("a wrong secret is let in")
			}
		})
	}
	all.Wait()
	mu.Lock()
	defer mu.Unlock()
	if address != "127.0.0.1" || failed[access.TooMany] == 0 {
		t.Errorf("logged from %q; %v, and some should have been refused unlooked at", address, failed)
	}
}

func TestUsersSignWithTheirSecretAndDoWhatTheyWereGranted(t *testing.T) {
	clock := new(fakeClock)
	s, stop := openStore(t, t.TempDir(), clock.now, queue.Limits{})
	t.Cleanup(stop)
	r := newRigOver(t, Config{}, newUsers(t), s, clock)
	admin, collector, sender := r.as("admin", "admin's secret"), r.as("collector", "collector's secret"),
		r.as("sender", "sender's secret")
	made, err := admin.CreateQueue(t.Context(), &client.CreateQueueInput{QueueName: ptr("news")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.CreateQueue(t.Context(), &client.CreateQueueInput{QueueName: ptr("secrets")}); err != nil {
		t.Fatal(err)
	}
	u := made.QueueUrl
	if _, err := collector.SendMessage(t.Context(),
		&client.SendMessageInput{QueueUrl: u, MessageBody: ptr("x")}); err != nil {
		t.Error(err)
	}
	got, err := sender.ReceiveMessage(t.Context(),
		&client.ReceiveMessageInput{QueueUrl: u, MessageAttributeNames: []string{"All"},
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{"SenderId"}})
	if err != nil || len(got.Messages) != 1 {
		t.Fatal(got, err)
	}
	if m := got.Messages[0]; m.Attributes["SenderId"] != "collector" || len(m.MessageAttributes) != 0 {
		t.Errorf("the message has %v and %v", m.Attributes, m.MessageAttributes)
	}
	if _, err := sender.DeleteMessage(t.Context(),
		&client.DeleteMessageInput{QueueUrl: u, ReceiptHandle: got.Messages[0].ReceiptHandle}); err != nil {
		t.Error(err)
	}
	_, err = sender.SendMessage(t.Context(), &client.SendMessageInput{QueueUrl: u, MessageBody: ptr("x")})
	wantCode(t, err, "AccessDenied")
	_, err = collector.ReceiveMessage(t.Context(), &client.ReceiveMessageInput{QueueUrl: u})
	wantCode(t, err, "AccessDenied")
	_, err = collector.PurgeQueue(t.Context(), &client.PurgeQueueInput{QueueUrl: u})
	wantCode(t, err, "AccessDenied")
	_, err = collector.CreateQueue(t.Context(), &client.CreateQueueInput{QueueName: ptr("newer")})
	wantCode(t, err, "AccessDenied")
	_, err = sender.GetQueueUrl(t.Context(), &client.GetQueueUrlInput{QueueName: ptr("secrets")})
	wantCode(t, err, "AccessDenied")
	list, err := sender.ListQueues(t.Context(), &client.ListQueuesInput{})
	if err != nil || len(list.QueueUrls) != 1 || list.QueueUrls[0] != *u {
		t.Errorf("who may see one queue is shown %v, %v", list, err)
	}
	_, err = r.as("sender", "wrong").ReceiveMessage(t.Context(), &client.ReceiveMessageInput{QueueUrl: u})
	wantCode(t, err, "SignatureDoesNotMatch")
	_, err = r.as("nobody", "wrong").ReceiveMessage(t.Context(), &client.ReceiveMessageInput{QueueUrl: u})
	wantCode(t, err, "InvalidClientTokenId")
	if status, out := r.post("ListQueues", map[string]any{}); status != 403 ||
		!strings.HasSuffix(out["__type"].(string), "#MissingAuthenticationToken") {
		t.Errorf("an unsigned request is answered %d %v", status, out)
	}
}

func TestWithoutUsersWebPagesCannotUseTheDoor(t *testing.T) {
	r := newRig(t)
	r.queue("news")
	for name, change := range map[string]func(*http.Request){
		"another site's page":          func(q *http.Request) { q.Header.Set("Sec-Fetch-Site", "cross-site") },
		"an old browser's page":        func(q *http.Request) { q.Header.Set("Origin", "https://evil.example") },
		"a name that points here":      func(q *http.Request) { q.Host = "evil.example:9324" },
		"another port of this machine": func(q *http.Request) { q.Header.Set("Origin", "http://127.0.0.1:1") },
	} {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.base+"/000000000000/news?Action=PurgeQueue",
			nil)
		if err != nil {
			t.Fatal(err)
		}
		change(q)
		res, err := r.web.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusForbidden {
			t.Errorf("%s is answered %d", name, res.StatusCode)
		}
	}
}

func TestADoorWithoutUsersListensOnLoopbackAlone(t *testing.T) {
	if err := (Config{Listen: "0.0.0.0:9324"}).Check(false); !errors.Is(err, access.ErrExposed) {
		t.Errorf("the error is %v", err)
	}
	if err := (Config{Listen: "0.0.0.0:9324"}).Check(true); err != nil {
		t.Error(err)
	}
}

func TestSettingsThatCannotBeAreRefused(t *testing.T) {
	for _, c := range []Config{
		{Listen: "here"}, {Listen: "127.0.0.1:x"}, {MaxConnections: -1}, {Rest: -1}, {Region: "a b"}, {Region: "a:b"},
		{TLS: access.TLS{Cert: "x"}},
	} {
		if err := c.Check(false); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if err := (Config{Off: true, Listen: "here"}).Check(false); err != nil {
		t.Errorf("a door that is off: %v", err)
	}
}

func TestADoorStartsAndClosesOnce(t *testing.T) {
	clock := new(fakeClock)
	s, stop := openStore(t, t.TempDir(), clock.now, queue.Limits{})
	t.Cleanup(stop)
	d, err := New(Config{Listen: "127.0.0.1:0"}, Options{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Start(t.Context()); !errors.Is(err, door.ErrStarted) {
		t.Error(err)
	}
	for range 2 {
		if err := d.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
	if _, err := d.Start(t.Context()); !errors.Is(err, door.ErrClosed) {
		t.Error(err)
	}
	off, err := New(Config{Off: true}, Options{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	if addr, err := off.Start(t.Context()); addr != nil || err != nil {
		t.Error(addr, err)
	}
	if err := off.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestWrongSignaturesAreCounted(t *testing.T) {
	clock := new(fakeClock)
	s, stop := openStore(t, t.TempDir(), clock.now, queue.Limits{})
	t.Cleanup(stop)
	users, err := access.New([]access.User{
		{Name: "ann", Secrets: []access.Secret{"an old secret", "a new secret"},
			Grants: []access.Grant{{Can: []string{"admin"}, On: []string{"*"}}}},
		{Name: "bob", SecretHash: []access.Secret{access.Secret(access.HashSecret("secret of bob"))}},
	})
	if err != nil {
		t.Fatal(err)
	}
	counted := make(chan string, 10)
	users.Watch(func(door, reason string) { counted <- door + " " + reason }, nil)
	r := newRigOver(t, Config{}, users, s, clock)
	for _, secret := range []string{"an old secret", "a new secret"} {
		if _, err := r.as("ann", secret).ListQueues(t.Context(), &client.ListQueuesInput{}); err != nil {
			t.Errorf("%s: %v", secret, err)
		}
	}
	for _, c := range []struct{ name, secret, code, count string }{
		{"ann", "wrong", "SignatureDoesNotMatch", "sqs secret"},
		{"eve", "wrong", "InvalidClientTokenId", "sqs name"},
		{"bob", "secret of bob", "SignatureDoesNotMatch", "sqs hash-only"},
	} {
		_, err := r.as(c.name, c.secret).ListQueues(t.Context(), &client.ListQueuesInput{})
		wantCode(t, err, c.code)
		if got := <-counted; got != c.count {
			t.Errorf("%s: counted as %s", c.name, got)
		}
		if c.name == "bob" && !strings.Contains(err.Error(), "secret_hash") {
			t.Errorf("it is not said what to do: %v", err)
		}
	}
	if len(counted) != 0 {
		t.Errorf("and %s", <-counted)
	}
}

// TestDeadLettersGoWhereTheirAuthorMayPut: a redrive policy and a move task write to the queue that they name, and what
// makes and deletes queues is no grant to write to them.
func TestDeadLettersGoWhereTheirAuthorMayPut(t *testing.T) {
	clock := new(fakeClock)
	s, stop := openStore(t, t.TempDir(), clock.now, queue.Limits{})
	t.Cleanup(stop)
	users, err := access.New([]access.User{
		{Name: "boss", Secret: "boss's secret",
			Grants: []access.Grant{{Can: []string{"put", "take", "admin"}, On: []string{"*"}}}},
		{Name: "eve", Secret: "eve's secret", Grants: []access.Grant{
			{Can: []string{"put", "take", "admin"}, On: []string{"eve*"}},
			{Can: []string{"admin"}, On: []string{"news"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := newRigOver(t, Config{}, users, s, clock)
	boss, eve := r.as("boss", "boss's secret"), r.as("eve", "eve's secret")
	for _, name := range []string{"news", "eve", "eve-dead"} {
		if _, err := boss.CreateQueue(t.Context(), &client.CreateQueueInput{QueueName: ptr(name)}); err != nil {
			t.Fatal(err)
		}
	}
	u := ptr(r.base + "/000000000000/eve")
	policy := func(to string) map[string]string {
		return map[string]string{"RedrivePolicy": `{"deadLetterTargetArn":"` + arn(to) + `","maxReceiveCount":1}`}
	}
	set := func(who *client.Client, to string) error {
		_, err := who.SetQueueAttributes(t.Context(),
			&client.SetQueueAttributesInput{QueueUrl: u, Attributes: policy(to)})
		return err
	}
	wantCode(t, set(eve, "news"), "AccessDenied")
	_, err = eve.CreateQueue(t.Context(), &client.CreateQueueInput{QueueName: ptr("eve-2"), Attributes: policy("news")})
	wantCode(t, err, "AccessDenied")
	// what is set may stay
	if err := errors.Join(set(eve, "eve-dead"), set(boss, "news"), set(eve, "news")); err != nil {
		t.Error(err)
	}
	if err := set(eve, "eve-dead"); err != nil {
		t.Error(err)
	}
	_, err = eve.StartMessageMoveTask(t.Context(),
		&client.StartMessageMoveTaskInput{SourceArn: ptr(arn("eve-dead")), DestinationArn: ptr(arn("news"))})
	wantCode(t, err, "AccessDenied")
}

// TestAGrantThatIsTakenAwayEndsAReceiveThatWaits: what comes then goes to nobody, and stays.
func TestAGrantThatIsTakenAwayEndsAReceiveThatWaits(t *testing.T) {
	clock := new(fakeClock)
	s, stop := openStore(t, t.TempDir(), clock.now, queue.Limits{})
	t.Cleanup(stop)
	users := newUsers(t)
	r := newRigOver(t, Config{}, users, s, clock)
	admin, sender := r.as("admin", "admin's secret"), r.as("sender", "sender's secret")
	if _, err := admin.CreateQueue(t.Context(), &client.CreateQueueInput{QueueName: ptr("news")}); err != nil {
		t.Fatal(err)
	}
	u, n := ptr(r.base+"/000000000000/news"), queue.Name{Namespace: queue.DefaultNamespace, Name: "news"}
	received := make(chan error, 1)
	go func() {
		_, err := sender.ReceiveMessage(t.Context(), &client.ReceiveMessageInput{QueueUrl: u, WaitTimeSeconds: 20})
		received <- err
	}()
	waittest.Until(t, "it waits", func() bool {
		st, err := s.Stats(t.Context(), n)
		return err == nil && st.Waiters == 1
	})
	if err := users.Replace([]access.User{
		{Name: "admin", Secret: "admin's secret", Grants: []access.Grant{{Can: []string{"put"}, On: []string{"*"}}}},
		{Name: "sender", Secret: "sender's secret",
			Grants: []access.Grant{{Can: []string{"put"}, On: []string{"news"}}}},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.SendMessage(t.Context(),
		&client.SendMessageInput{QueueUrl: u, MessageBody: ptr("x")}); err != nil {
		t.Fatal(err)
	}
	wantCode(t, <-received, "AccessDenied")
	if st, err := s.Stats(t.Context(), n); err != nil || st.Ready != 1 {
		t.Errorf("%+v, %v", st, err)
	}
}
