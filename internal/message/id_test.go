package message

import (
	"bytes"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestIDsMadeTogetherAreThoseOfSingleCalls(t *testing.T) {
	before := NewID()
	began := time.Now()
	for _, n := range []int{0, 1, 2, 63, 64, 65, 1000} {
		made := make([]ID, n)
		NewIDs(made)
		for _, id := range made {
			if bytes.Compare(before[:], id[:]) >= 0 {
				t.Fatalf("%s comes after %s", id, before)
			}
			if u := uuid.UUID(id); u.Version() != 7 || u.Variant() != uuid.RFC4122 {
				t.Fatalf("%s is of version %d, %v", id, u.Version(), u.Variant())
			}
			before = id
		}
		alone := NewID()
		if bytes.Compare(before[:], alone[:]) >= 0 {
			t.Fatalf("%s comes after %s", alone, before)
		}
		before = alone
	}
	seconds, nanos := uuid.UUID(before).Time().UnixTime()
	if off := time.Unix(seconds, nanos).Sub(began); off < -time.Minute || off > time.Hour {
		t.Errorf("an id made at %v shows %v", began, time.Unix(seconds, nanos))
	}
}

func TestIDsOfManyGoroutinesAreDistinctAndOrderedInEach(t *testing.T) {
	const each, slabs, size = 4, 50, 33
	all := make([][]ID, each)
	var group sync.WaitGroup
	for g := range all {
		group.Go(func() {
			for range slabs {
				made := make([]ID, size)
				NewIDs(made)
				all[g] = append(all[g], made...)
			}
		})
	}
	group.Wait()
	seen := map[ID]bool{}
	for _, made := range all {
		if !slices.IsSortedFunc(made, func(a, b ID) int { return bytes.Compare(a[:], b[:]) }) {
			t.Error("a goroutine's ids are not in order")
		}
		for _, id := range made {
			if seen[id] {
				t.Fatalf("%s was made twice", id)
			}
			seen[id] = true
		}
	}
}

func TestTheRandomPartOfIDsDiffers(t *testing.T) {
	made := make([]ID, 5000)
	NewIDs(made)
	seen := map[[8]byte]bool{}
	for _, id := range made {
		tail := [8]byte(id[8:])
		if seen[tail] {
			t.Fatalf("%x came twice among %d", tail, len(made))
		}
		seen[tail] = true
	}
}

func BenchmarkNewID(b *testing.B) {
	for b.Loop() {
		NewID()
	}
}

func BenchmarkNewIDs(b *testing.B) {
	made := make([]ID, 64)
	for n := 0; n < b.N; n += len(made) {
		NewIDs(made)
	}
}
