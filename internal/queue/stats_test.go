package queue

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/hikyaku/hikyaku/internal/message"
)

// viewOf is what stats show of a view.
func viewOf(t *testing.T, s *Store, text string) ViewStats {
	t.Helper()
	st, err := s.Stats(t.Context(), news)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range st.Views {
		if v.Text == text {
			return v
		}
	}
	t.Fatalf("no view %q in %+v", text, st.Views)
	return ViewStats{}
}

// letters puts n messages, every tenth of which is in Japanese, numbered among themselves.
func letters(t *testing.T, s *Store, n int) {
	t.Helper()
	for i := 0; i < n; i += 1000 {
		ms := make([]message.Message, min(1000, n-i))
		for j := range ms {
			lang := "en"
			if (i+j)%10 == 0 {
				lang = "ja"
			}
			ms[j].Attributes.Set("lang", message.String(lang))
			ms[j].Attributes.Set("priority", message.Int(int64(n-i-j))) // the oldest last
			ms[j].Attributes.Set("title", message.String(fmt.Sprintf("%d of %s", (i+j)/10, lang)))
		}
		mustPut(t, s, news, ms...)
	}
}

func claimWhere(t *testing.T, s *Store, n int, text string) []Claim {
	t.Helper()
	c, err := s.Claim(context.Background(), ClaimRequest{From: where(t, news, text), Max: n})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestStatsShowWhatConditionsCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, newMemory())
		letters(t, s, 5000)
		if st, err := s.Stats(t.Context(), news); err != nil || st.Views != nil || st.TotalExamined != 0 {
			t.Fatal(st, err)
		}
		for i := range 10 {
			claimWhere(t, s, 3, fmt.Sprintf("lang = 'ja' and priority > %d", i))
		}
		v := viewOf(t, s, "lang =, priority <>")
		if v.Kind != ViewIndex || !v.Complete || v.Upto != 0 || v.Entries != 4970 || v.Examined != 5000 ||
			v.Claims != 10 || v.Bytes < 4970*16 || v.Bytes > 4970*40 || v.Used.IsZero() {
			t.Errorf("%+v", v)
		}
		claimWhere(t, s, 1, "lang = 'ja' or lang = 'en' or priority = 7")
		if v := viewOf(t, s, "lang ="); v.Claims != 1 {
			t.Errorf("used by one claim twice: %+v", v)
		}
		claimWhere(t, s, 1, "lang = '1'")
		claimWhere(t, s, 1, "lang = 1")
		if v, w := viewOf(t, s, "lang as is ="), viewOf(t, s, "lang as number ="); v.Entries != w.Entries+v.Entries {
			t.Errorf("%+v, %+v", v, w)
		}
		if st, _ := s.Stats(t.Context(), news); st.Views[0].Text != "lang as number =" || st.TotalExamined < 19_000 {
			t.Errorf("%+v", st)
		}
	})
}

func TestWhatIndexesServeInPartIsLookedForAmongWhatTheyServe(t *testing.T) {
	for text, examined := range map[string][3]uint64{ // by the first claim, by the next, and when nothing more matches
		"lang = 'ja' and title like '%1 of%'":                   {lookAhead * 10, lookAhead * 10, 1000},
		"lang = 'ja' and priority > 5000 and title like '%of%'": {lookAhead, lookAhead, 501},
		"title like '%of ja'":                                   {lookAhead*10 - 9, lookAhead*10 - 9, 10_000},
		"priority > 0 and title like '%of ja'":                  {lookAhead*10 - 9, lookAhead*10 - 9, 10_000},
	} {
		t.Run(text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := open(t, newMemory())
				letters(t, s, 10_000)
				claim := func(n int, most uint64) uint64 {
					t.Helper()
					claimWhere(t, s, n, text)
					v := viewOf(t, s, text)
					if v.Examined > most || v.Kind != ViewCondition {
						t.Errorf("%+v, wanted at most %d examined", v, most)
					}
					return v.Examined
				}
				first := claim(1, examined[0])
				if next := claim(1, examined[1]+20); next > first+20 {
					t.Errorf("the second claim looked at %d more", next-first)
				}
				if v := viewOf(t, s, text); v.Complete || v.Upto == 0 || v.Entries != lookAhead-1 || v.Claims != 2 {
					t.Errorf("%+v", v)
				}
				last := claim(10_000, examined[2])
				if again := claim(1, examined[2]); again != last {
					t.Errorf("%d looked at for a claim that finds nothing again", again-last)
				}
				if v := viewOf(t, s, text); !v.Complete || v.Upto != 0 || v.Entries != 0 || v.Bytes > 10_000 {
					t.Errorf("%+v", v)
				}
			})
		})
	}
}

func TestWhatComesBackBehindTheWalkIsFound(t *testing.T) {
	for _, text := range []string{"lang = 'ja' and title like '%of%'",
		"lang = 'ja' and priority > 0 and title like '%of%'", "title like '%of ja'"} {
		synctest.Test(t, func(t *testing.T) {
			s := open(t, newMemory())
			letters(t, s, 3000)
			c := claimWhere(t, s, 10, text)
			claimWhere(t, s, 5, text)
			if _, err := s.Settle(context.Background(),
				[]Settlement{{Token: c[3].Token, Kind: Back}, {Token: c[7].Token, Kind: Back}}); err != nil {
				t.Fatal(err)
			}
			before := viewOf(t, s, text).Examined
			got := claimWhere(t, s, 2, text)
			if len(got) != 2 || got[0].Sequence != c[3].Sequence || got[1].Sequence != c[7].Sequence {
				t.Errorf("%s: %v", text, got)
			}
			if looked := viewOf(t, s, text).Examined - before; looked > 200 {
				t.Errorf("%s: %d were looked at again", text, looked)
			}
		})
	}
}

func TestCountingCostsAClaimNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, newMemory())
		letters(t, s, 1000)
		in := where(t, news, "lang in ('ja', 'en', 'fr')")
		claimWhere(t, s, 1, "lang in ('ja', 'en', 'fr')")
		s.mu.Lock()
		defer s.mu.Unlock()
		q := s.state.queueNames[news]
		f := s.state.ready(q, in[0].Where).(*planned)
		if n := testing.AllocsPerRun(100, func() {
			noteUse(f.branches, s.state.now)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func TestAConditionOutlivesItsIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, newMemory())
		letters(t, s, 1000)
		const text = "lang = 'ja' and title like '%5 of%'"
		if c := claimWhere(t, s, 1, text); len(c) != 1 || c[0].Sequence != 51 {
			t.Fatal(c)
		}
		for i := range maxIndexes { // which drives the index on lang out
			claimWhere(t, s, 1, fmt.Sprintf("name%d = 1", i))
		}
		if v := viewOf(t, s, text); v.Complete || v.Entries != 9 {
			t.Errorf("%+v", v)
		}
		s.mu.Lock()
		for _, v := range s.state.queueNames[news].views {
			if m, ok := v.(*matcher); ok && m.branches[0].index != nil {
				t.Error("the index is kept")
			}
		}
		s.mu.Unlock()
		if c := claimWhere(t, s, 20, text); len(c) != 9 || c[0].Sequence != 151 {
			t.Error(c)
		}
		if v := viewOf(t, s, text); !v.Complete || v.Examined != 100 {
			t.Errorf("%+v", v)
		}
	})
}
