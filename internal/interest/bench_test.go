package interest

import (
	"fmt"
	"testing"

	"github.com/hikyaku/hikyaku/internal/condition"
)

// BenchmarkMatching asks who waits longest for a message that, but for nested ranges and lists of one, one of the crowd
// waits for.
func BenchmarkMatching(b *testing.B) {
	for _, c := range crowds {
		for _, size := range []int{1, 1_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", c.name, size), func(b *testing.B) {
				s, m := crowd(b, c.form, size), middling(size)
				benchmarkLongest(b, s, &m)
			})
		}
	}
}

// BenchmarkShared is for crowds that want the same.
func BenchmarkShared(b *testing.B) {
	for _, text := range []string{"", "user >= 0", "length(page) > 10"} {
		for _, size := range []int{1, 1_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", text, size), func(b *testing.B) {
				var s Set
				where := parse(b, text)
				for id := range size {
					s.Add(uint64(id), where)
				}
				m := middling(size)
				benchmarkLongest(b, &s, &m)
			})
		}
	}
}

// BenchmarkResidues is what no index serves: each condition is tested.
func BenchmarkResidues(b *testing.B) {
	for _, size := range []int{1, 1_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			s, m := crowd(b, "user + 1 = %d + 1", size), middling(size)
			benchmarkLongest(b, s, &m)
		})
	}
}

// BenchmarkNobody is for a message that none of the crowd waits for.
func BenchmarkNobody(b *testing.B) {
	for _, c := range crowds[:4] {
		b.Run(c.name, func(b *testing.B) {
			s, m := crowd(b, c.form, 1_000), middling(100_000)
			b.ReportAllocs()
			for b.Loop() {
				if id, found := longest(s, &m); found {
					b.Fatal(id)
				}
			}
		})
	}
}

func benchmarkLongest(b *testing.B, s *Set, env condition.Env) {
	b.ReportAllocs()
	for b.Loop() {
		if _, found := longest(s, env); !found {
			b.Fatal("nobody waits for the message")
		}
	}
}

// BenchmarkAll walks over all of 1,000 who wait for different conditions that the message meets.
func BenchmarkAll(b *testing.B) {
	s, m := crowd(b, "n > -%[1]d and n < 10000000 + %[1]d", 1_000), middling(1_000)
	b.ReportAllocs()
	for b.Loop() {
		for range s.Matching(&m) {
		}
	}
}

// BenchmarkChange is a waiter that comes and goes among others.
func BenchmarkChange(b *testing.B) {
	for _, c := range crowds {
		b.Run(c.name, func(b *testing.B) {
			const size = 10_000
			s, mine := crowd(b, c.form, size), parse(b, fmt.Sprintf(c.form, size))
			b.ReportAllocs()
			for id := uint64(size); b.Loop(); id++ {
				s.Add(id, mine)
				s.Remove(id, mine)
			}
		})
	}
	b.Run("everything", func(b *testing.B) {
		var s Set
		for id := range uint64(100_000) {
			s.Add(id, nil)
		}
		b.ReportAllocs()
		for id := uint64(100_000); b.Loop(); id++ {
			s.Add(id, nil)
			s.Remove(id-50_000, nil)
		}
	})
}
