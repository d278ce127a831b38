package flow_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/flow"
)

// For each user, fetch what to send: four at once, in the users' order.
func Example() {
	users := flow.Of("Muto", "Miyoshi", "Matsui")
	fetch := func(_ context.Context, user string) (string, error) {
		return "Dear " + user, nil
	}
	letters := flow.Map(users, fetch, flow.Options{Concurrency: 4, Ordered: true})
	for letter, err := range letters(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(letter)
	}
	// Output:
	// Dear Muto
	// Dear Miyoshi
	// Dear Matsui
}

// A list and a look-up for each of its items, through a Loader: the database is asked a few times, not once for each.
func Example_lookUps() {
	loader := flow.NewLoader(flow.LoaderConfig[int, []string]{
		Fetch: func(_ context.Context, ids []int) (map[int][]string, error) {
			// SELECT student_id, subject FROM scores WHERE student_id = ANY($1)
			time.Sleep(time.Millisecond)
			scores := make(map[int][]string)
			for _, id := range ids {
				scores[id] = []string{"English", "Science"}
			}
			return scores, nil
		},
	})
	defer func() { _ = loader.Close() }()

	ids := make([]int, 1000)
	for i := range ids {
		ids[i] = i + 1
	}
	scores, err := flow.Collect(context.Background(),
		flow.Map(flow.Of(ids...), loader.Load, flow.Options{Concurrency: 500, Ordered: true}))
	fmt.Println(len(scores), scores[0], err)
	fmt.Println("a few fetches:", loader.Stats().Fetches < 100)
	// Output:
	// 1000 [English Science] <nil>
	// a few fetches: true
}

// The same for a stream, without a goroutine for each look-up.
func ExampleLookup() {
	loader := flow.NewLoader(flow.LoaderConfig[int, string]{
		Fetch: func(_ context.Context, ids []int) (map[int]string, error) {
			names := map[int]string{1: "Muto", 2: "Miyoshi", 3: "Matsui"}
			found := make(map[int]string)
			for _, id := range ids {
				if name, known := names[id]; known {
					found[id] = name
				}
			}
			return found, nil
		},
	})
	defer func() { _ = loader.Close() }()
	id := func(id int) int { return id }
	for user, err := range flow.Lookup(flow.Of(1, 2, 9, 3), id, loader, 100,
		flow.Options{KeepGoing: true})(context.Background()) {
		fmt.Println(user.First, user.Second, errors.Is(err, flow.ErrMissing))
	}
	// Output:
	// 1 Muto false
	// 2 Miyoshi false
	// 9  true
	// 3 Matsui false
}

// Callers that know nothing of each other ask for one key each, and share fetches.
func ExampleLoader() {
	loader := flow.NewLoader(flow.LoaderConfig[string, int]{
		Fetch: func(_ context.Context, words []string) (map[string]int, error) {
			lengths := make(map[string]int)
			for _, word := range words {
				lengths[word] = len(word)
			}
			return lengths, nil
		},
		CacheSize: 1000,
		TTL:       time.Minute,
	})
	defer func() { _ = loader.Close() }()
	ctx := context.Background()
	fmt.Println(loader.Load(ctx, "courier"))
	fmt.Println(loader.Load(ctx, "courier"))
	fmt.Println(loader.Stats().Fetches, "fetch")
	// Output:
	// 7 <nil>
	// 7 <nil>
	// 1 fetch
}

// Blocking sources, each on a worker of a scheduler that grows as needed, and shared by both kinds.
func ExampleOn() {
	elastic := flow.Elastic(0)
	fetchScores := func(id int) flow.Stream[string] {
		return flow.Source(func(_ context.Context, emit func(string) bool) error {
			for _, subject := range []string{"English", "Science"} {
				time.Sleep(time.Millisecond) // as a driver that blocks
				if !emit(fmt.Sprint(id, " ", subject)) {
					return nil
				}
			}
			return nil
		})
	}
	students := flow.On(elastic, flow.Of(1, 2, 3))
	byStudent, err := flow.CollectMap(context.Background(),
		flow.Map(students, func(ctx context.Context, id int) (flow.Pair[int, []string], error) {
			scores, err := flow.Collect(ctx, flow.On(elastic, fetchScores(id)))
			return flow.Pair[int, []string]{First: id, Second: scores}, err
		}, flow.Options{Concurrency: 256}),
		func(p flow.Pair[int, []string]) (int, []string) { return p.First, p.Second })
	fmt.Println(len(byStudent), byStudent[2], err)
	// Output: 3 [2 English 2 Science] <nil>
}

// A stream for each item, merged in the items' order.
func ExampleFlatMap() {
	words := flow.FlatMap(flow.Of("lone messages", "never wait"), func(line string) flow.Stream[string] {
		return flow.Of(strings.Fields(line)...)
	}, flow.Options{Concurrency: 2, Ordered: true})
	fmt.Println(flow.Collect(context.Background(), words))
	// Output: [lone messages never wait] <nil>
}

// With KeepGoing the loop sees every error and decides.
func ExampleOptions_keepGoing() {
	half := func(_ context.Context, i int) (int, error) {
		if i%2 == 1 {
			return 0, fmt.Errorf("%d is odd", i)
		}
		return i / 2, nil
	}
	for v, err := range flow.Map(flow.Of(2, 3, 4), half,
		flow.Options{Concurrency: 2, Ordered: true, KeepGoing: true})(context.Background()) {
		fmt.Println(v, err)
	}
	// Output:
	// 1 <nil>
	// 0 3 is odd
	// 2 <nil>
}

// A failed item is tried again.
func ExampleRetry() {
	tries := 0
	flaky := func(context.Context, string) (string, error) {
		if tries++; tries < 3 {
			return "", errors.New("busy")
		}
		return fmt.Sprint("answered at attempt ", tries), nil
	}
	o := flow.Options{Timeout: time.Second, Retry: flow.Retry{Attempts: 5, Wait: time.Millisecond}}
	fmt.Println(flow.Collect(context.Background(), flow.Map(flow.Of("ask"), flaky, o)))
	// Output: [answered at attempt 3] <nil>
}

// A batch is what has gathered while the reader was busy; here everything is there before it begins.
func ExampleBatch() {
	sizes := 0
	for batch, err := range flow.Batch(flow.Of(1, 2, 3, 4, 5), 2)(context.Background()) {
		if err != nil || len(batch) > 2 {
			fmt.Println(err)
			return
		}
		sizes += len(batch)
	}
	fmt.Println(sizes, "items in batches of at most two")
	// Output: 5 items in batches of at most two
}

// Ticks give the items their times, without a goroutine that sleeps on a worker.
func ExampleZip() {
	slowly := flow.Zip(flow.Interval(time.Millisecond), flow.Of("one", "two", "three"))
	for pair, err := range slowly(context.Background()) {
		fmt.Println(pair.First, pair.Second, err)
	}
	// Output:
	// 0 one <nil>
	// 1 two <nil>
	// 2 three <nil>
}

// A side sees every item too, and is waited for.
func ExampleTee() {
	count := 0
	audited := flow.Tee(flow.Of("a", "b", "c"), func(ctx context.Context, s flow.Stream[string]) error {
		return flow.ForEach(ctx, s, func(string) error { count++; return nil })
	})
	items, err := flow.Collect(context.Background(), audited)
	fmt.Println(items, count, err)
	// Output: [a b c] 3 <nil>
}

// One line for each thing that happens, with its worker.
func ExampleLog() {
	to := func(e flow.Event) {
		e.Time = time.Time{} // for this example
		_, _ = fmt.Fprintln(os.Stdout, e)
	}
	_, _ = flow.Collect(context.Background(), flow.Log(flow.On(flow.Single(), flow.Of("Muto")), "fetchStudents", to))
	// Output:
	// 00:00:00.000 [main] INFO  fetchStudents - onSubscribe()
	// 00:00:00.000 [main] INFO  fetchStudents - request(unbounded)
	// 00:00:00.000 [single-1] INFO  fetchStudents - onNext(Muto)
	// 00:00:00.000 [main] INFO  fetchStudents - onComplete()
}
