package batch_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/batch"
)

// While the first line is being written, the others gather, and leave together as soon as the writer is free.
func Example() {
	writing, goOn := make(chan bool), make(chan bool)
	g := batch.New(batch.Config[string]{
		Handle: func(_ context.Context, lines []string) []error {
			writing <- true
			<-goOn
			fmt.Println(strings.Join(lines, " + "))
			return nil
		},
	})
	_ = g.Post("one")
	<-writing
	_ = g.Post("two")
	_ = g.Post("three")
	goOn <- true
	<-writing
	goOn <- true
	_ = g.Close()
	// Output:
	// one
	// two + three
}

// With a delay a group waits for company until it is full. Here it is full by count.
func Example_thresholds() {
	g := batch.New(batch.Config[int]{
		MaxCount: 3,
		Delay:    time.Hour,
		Handle: func(_ context.Context, items []int) []error {
			fmt.Println(items)
			return nil
		},
	})
	for i := range 7 {
		_ = g.Post(i)
	}
	_ = g.Close() // what is left does not wait
	fmt.Println(g.Stats().Count, "full,", g.Stats().Close, "by Close")
	// Output:
	// [0 1 2]
	// [3 4 5]
	// [6]
	// 2 full, 1 by Close
}

// Each item has its own result, also when a group failed only in part.
func ExampleGrouper_Do() {
	g := batch.New(batch.Config[int]{
		Handle: func(_ context.Context, items []int) []error {
			errs := make([]error, len(items))
			for i, n := range items {
				if n < 0 {
					errs[i] = errors.New("negative")
				}
			}
			return errs
		},
	})
	defer g.Close()
	fmt.Println(g.Do(context.Background(), 1))
	fmt.Println(g.Do(context.Background(), -1))
	// Output:
	// <nil>
	// negative
}

// Add many, then wait for all of them.
func ExampleGrouper_Add() {
	g := batch.New(batch.Config[int]{
		MaxCount: 100,
		Handle:   func(context.Context, []int) []error { return nil },
	})
	defer g.Close()
	ctx := context.Background()
	var results []*batch.Result
	for i := range 1000 {
		r, err := g.Add(ctx, i) // waits while too much is waiting
		if err != nil {
			fmt.Println(err)
			return
		}
		results = append(results, r)
	}
	for _, r := range results {
		if err := r.Wait(ctx); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(g.Stats().Items, "items")
	// Output: 1000 items
}

// An item may carry its own way of answering; then it needs no Result.
func ExampleGrouper_Post() {
	type write struct {
		data string
		done func(error)
	}
	g := batch.New(batch.Config[write]{
		Pending: 10,
		Handle: func(_ context.Context, writes []write) []error {
			for _, w := range writes {
				w.done(nil)
			}
			return nil
		},
	})
	err := g.Post(write{"data", func(err error) { fmt.Println("written:", err) }})
	if errors.Is(err, batch.ErrFull) {
		fmt.Println("busy, try again later")
	}
	_ = g.Flush(context.Background())
	_ = g.Close()
	// Output: written: <nil>
}
