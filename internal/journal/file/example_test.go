package file_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"slices"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
)

// A start loads the newest checkpoint, folds what was appended since, and says what is still needed.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	j, err := file.Open(ctx, file.Options{Dir: dir, SegmentBytes: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer j.Close()

	at, state, _, err := j.LoadCheckpoint(ctx)
	switch {
	case err == nil:
		if _, err := io.Copy(os.Stdout, state); err != nil {
			log.Fatal(err)
		}
		state.Close()
	case !errors.Is(err, journal.ErrNoCheckpoint):
		log.Fatal(err)
	}
	var needed []journal.Address
	for g, err := range j.Scan(ctx, at) {
		if err != nil {
			log.Fatal(err)
		}
		needed = append(needed, journal.Address{Position: g.Position})
	}
	j.Keep(slices.Values(needed))

	durable := make(chan journal.Address)
	err = j.Append([]journal.Record{{Queue: 1, Life: journal.Lasting, Sequence: 1, Head: []byte("to: Edo"),
		Body: []byte("the letter")}},
		func(p journal.Position, err error, _ int) {
			if err != nil {
				log.Fatal(err)
			}
			durable <- journal.Address{Position: p}
		})
	if err != nil {
		log.Fatal(err)
	}
	letter := <-durable
	err = j.Read(ctx, []journal.Address{letter}, func(_ int, r journal.Record, err error) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %s\n", r.Head, r.Body)
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: to: Edo: the letter
}
