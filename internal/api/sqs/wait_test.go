package sqs

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/door/doortest"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// timed runs a test in a time of its own, with a door that is asked without a network. ask makes a request and returns
// the bodies that it is answered with.
func timed(t *testing.T, test func(t *testing.T, d *Server, ask func(action string, in map[string]any) []string)) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := openStore(t, t.TempDir(), time.Now, queue.Limits{})
		defer stop()
		d, err := New(Config{}, Options{Store: &doortest.Away{Service: s},
			Report: func(err error) { t.Error("reported:", err) }})
		if err != nil {
			t.Fatal(err)
		}
		if err := d.begun(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := d.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		test(t, d, func(action string, in map[string]any) []string {
			body, err := json.Marshal(in)
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost:9324/",
				bytes.NewReader(body))
			r.Header.Set("X-Amz-Target", "AmazonSQS."+action)
			w := httptest.NewRecorder()
			d.serve(w, r)
			if w.Code != http.StatusOK {
				t.Fatalf("%s is answered %d %s", action, w.Code, w.Body)
			}
			var out struct{ Messages []struct{ Body string } }
			if w.Body.Len() > 0 {
				if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
					t.Fatal(err)
				}
			}
			var texts []string
			for _, m := range out.Messages {
				texts = append(texts, m.Body)
			}
			return texts
		})
	})
}

const newsURL = "/000000000000/news"

func TestALongPollWaitsAsLongAsItSaysAndNoLonger(t *testing.T) {
	timed(t, func(t *testing.T, _ *Server, ask func(string, map[string]any) []string) {
		ask("CreateQueue", map[string]any{"QueueName": "news"})
		began := time.Now()
		if got := ask("ReceiveMessage", map[string]any{"QueueUrl": newsURL, "WaitTimeSeconds": 20}); len(got) != 0 {
			t.Errorf("there is %q", got)
		}
		if took := time.Since(began); took != 20*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestALongPollIsHandedWhatBecomesVisible(t *testing.T) {
	timed(t, func(t *testing.T, _ *Server, ask func(string, map[string]any) []string) {
		ask("CreateQueue", map[string]any{"QueueName": "news"})
		ask("SendMessage", map[string]any{"QueueUrl": newsURL, "MessageBody": "delayed", "DelaySeconds": 5})
		ask("SendMessage", map[string]any{"QueueUrl": newsURL, "MessageBody": "held"})
		if got := ask("ReceiveMessage", map[string]any{"QueueUrl": newsURL, "VisibilityTimeout": 8}); len(got) != 1 ||
			got[0] != "held" {
			t.Fatal(got)
		}
		began := time.Now()
		for _, c := range []struct {
			want string
			at   time.Duration
		}{{"delayed", 5 * time.Second}, {"held", 8 * time.Second}} {
			got := ask("ReceiveMessage", map[string]any{"QueueUrl": newsURL, "WaitTimeSeconds": 20})
			if took := time.Since(began); len(got) != 1 || got[0] != c.want || took < c.at ||
				took > c.at+10*time.Millisecond {
				t.Errorf("after %v there is %q, not %s after %v", took, got, c.want, c.at)
			}
		}
	})
}

func TestATaskKeepsItsRate(t *testing.T) {
	timed(t, func(t *testing.T, d *Server, ask func(string, map[string]any) []string) {
		ask("CreateQueue", map[string]any{"QueueName": "dead"})
		ask("CreateQueue", map[string]any{"QueueName": "other"})
		ask("CreateQueue", map[string]any{"QueueName": "news",
			"Attributes": map[string]string{"RedrivePolicy": redrive("dead", 1)}})
		for range 30 {
			ask("SendMessage", map[string]any{"QueueUrl": "/000000000000/dead", "MessageBody": "x"})
		}
		began := time.Now()
		ask("StartMessageMoveTask", map[string]any{"SourceArn": arn("dead"), "DestinationArn": arn("other"),
			"MaxNumberOfMessagesPerSecond": 3})
		for {
			synctest.Wait()
			moves, err := d.movesOf(t.Context(), queue.Name{Namespace: "default", Name: "dead"})
			if err != nil {
				t.Fatal(err)
			}
			if elapsed := time.Since(began); float64(moves[0].Moved) > 3*elapsed.Seconds()+1 {
				t.Fatalf("%d messages in %v", moves[0].Moved, elapsed)
			}
			if moves[0].Status == moveCompleted {
				break
			}
			time.Sleep(100 * time.Millisecond) // of the bubble's time
		}
		if took := time.Since(began); took < 9*time.Second || took > 11*time.Second {
			t.Errorf("30 messages at 3 a second took %v", took)
		}
	})
}

// TestATaskWaitsForAStoreThatIsAway: it has not failed, and goes on when the store is there again.
func TestATaskWaitsForAStoreThatIsAway(t *testing.T) {
	timed(t, func(t *testing.T, d *Server, ask func(string, map[string]any) []string) {
		ask("CreateQueue", map[string]any{"QueueName": "dead"})
		ask("CreateQueue", map[string]any{"QueueName": "other"})
		ask("CreateQueue", map[string]any{"QueueName": "news",
			"Attributes": map[string]string{"RedrivePolicy": redrive("dead", 1)}})
		for range 2 {
			ask("SendMessage", map[string]any{"QueueUrl": "/000000000000/dead", "MessageBody": "x"})
		}
		ask("StartMessageMoveTask", map[string]any{"SourceArn": arn("dead"), "DestinationArn": arn("other"),
			"MaxNumberOfMessagesPerSecond": 1})
		away := d.store.(*doortest.Away)
		for _, step := range []struct {
			fails  []string
			status string
			moved  int64
		}{{nil, moveRunning, 1}, {[]string{"Definition"}, moveRunning, 1}, {nil, moveCompleted, 2}} {
			synctest.Wait()
			away.Go(step.fails...)
			if step.moved > 1 || step.fails != nil {
				time.Sleep(time.Minute) // of the bubble's time
			}
			synctest.Wait()
			moves, err := d.movesOf(t.Context(), queue.Name{Namespace: "default", Name: "dead"})
			if err != nil {
				t.Fatal(err)
			}
			if m := moves[0]; m.Status != step.status || m.Moved != step.moved {
				t.Fatalf("without %v the task is %s, with %d messages moved: %s", step.fails, m.Status, m.Moved,
					m.Reason)
			}
		}
	})
}
