package mysql

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	driver "github.com/go-sql-driver/mysql"
)

func likeOf(t testing.TB, collation gms.CollationID, text, pattern, escape string) (is bool, p *likePattern,
	steps int) {
	t.Helper()
	p, err := newLikePattern(nil, collation, pattern, escape)
	if err != nil {
		t.Fatal(err)
	}
	m := likeMatch{p: p, rest: text, alive: func() error { return nil }}
	return !p.broken && m.whole(), p, m.steps
}

// sameAsTheLibrary holds a match against go-mysql-server's, which is right where it ends.
func sameAsTheLibrary(t testing.TB, collation gms.CollationID, text, pattern, escape string) {
	t.Helper()
	got, p, _ := likeOf(t, collation, text, pattern, escape)
	r, _ := utf8.DecodeRuneInString(escape)
	library, err := expression.ConstructLikeMatcher(collation, pattern, r)
	if err != nil {
		if !p.broken && !strings.HasSuffix(pattern, escape) {
			t.Errorf("%q as a pattern: %v", pattern, err)
		}
		return
	}
	if want := library.Match(text); got != want {
		t.Errorf("%q like %q escape %q: %v, not %v", text, pattern, escape, got, want)
	}
}

func TestLikeMatchesAsTheLibraryDoes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	word := func(letters string, most int) string {
		all := []rune(letters)
		var b strings.Builder
		for range random.IntN(most) {
			b.WriteRune(all[random.IntN(len(all))])
		}
		return b.String()
	}
	for range amount(200_000, 40_000) {
		collation := []gms.CollationID{gms.Collation_utf8mb4_0900_ai_ci, gms.Collation_utf8mb4_0900_bin,
			gms.Collation_binary}[random.IntN(3)]
		sameAsTheLibrary(t, collation, word("aAbé日", 12), word("aAbé日%%%__|", 9), "|")
		sameAsTheLibrary(t, collation, word("ab", 16), word("ab%", 9), `\`)
		if t.Failed() {
			return
		}
	}
}

func FuzzLike(f *testing.F) {
	f.Add("abcabd", "%abd", `\`)
	f.Add("日本語", "_本%", "|")
	f.Add("00", "%0", "%")
	f.Fuzz(func(t *testing.T, text, pattern, escape string) {
		if escape == "_" { // it escapes in MySQL, and does not in the library
			return
		}
		if utf8.RuneCountInString(escape) != 1 || !utf8.ValidString(text) || !utf8.ValidString(escape) ||
			len(text) > 100 || len(pattern) > 100 {
			return
		}
		sameAsTheLibrary(t, gms.Collation_utf8mb4_0900_ai_ci, text, pattern, escape)
	})
}

// TestLikeReadsATextOnce counts characters: go-mysql-server's read 44 seconds long where both texts had 40,000 letters.
func TestLikeReadsATextOnce(t *testing.T) {
	const n = 100_000
	text := strings.Repeat("a", 2*n)
	half := strings.Repeat("a", n)
	for _, pattern := range []string{"%" + half + "b%", "%" + half + "b", half + "%b", "%a%a%" + half + "b%a%",
		strings.Repeat("%a", n) + "b%"} {
		if is, _, steps := likeOf(t, gms.Collation_utf8mb4_0900_ai_ci, text, pattern, `\`); is || steps > 3*len(text) {
			t.Errorf("%.10q: %v after %d characters, of %d", pattern, is, steps, len(text))
		}
	}
	if is, _, steps := likeOf(t, gms.Collation_utf8mb4_0900_ai_ci, text+"c", "%"+half+"C", `\`); !is ||
		steps > 3*len(text) {
		t.Errorf("the end: %v after %d characters", is, steps)
	}
}

func TestALikeThatTakesLongEndsWithItsStatement(t *testing.T) {
	p, err := newLikePattern(nil, gms.Collation_utf8mb4_0900_bin, "%_"+strings.Repeat("a", 1000)+"b%", `\`)
	if err != nil {
		t.Fatal(err)
	}
	m := likeMatch{p: p, rest: strings.Repeat("a", 1_000_000), alive: func() error { return context.Canceled }}
	if m.whole() || !errors.Is(m.err, context.Canceled) || m.steps > 1<<17 {
		t.Errorf("%v after %d characters", m.err, m.steps)
	}
}

func TestLikeInStatements(t *testing.T) {
	r := newRig(t, Config{}, nil)
	conn := r.connect("")
	for statement, want := range map[string]string{
		`'axb' like 'a\%b'`: "0", `'a%b' like 'a\%b'`: "1", `length('\%\_\a')`: "5", `'a_''\_' like "a\_'\\\_"`: "1",
		"1 /* ' */ and '\\_' like '\\_' -- '\n": "0",
		`'a%b' like 'a\\%b'`:                    "1", `'axb' like 'a\\%b'`: "0", `'a%b' like 'a|%b' escape '|'`: "1",
		`'a\\b' like 'a\\b' escape ''`: "1", `'A' like binary 'a'`: "0",
		`'A' collate utf8mb4_0900_ai_ci like 'a'`: "1", `'日本' like '__'`: "1", `null like 'a'`: "NULL",
		`'a' like null`: "NULL", `'a' like ''`: "0", `'' like ''`: "1", `'' like '%'`: "1",
		`'a' not like 'b%'`: "1", `12 like '1_'`: "1", `'a\\' like 'a\\'`: "1",
		fmt.Sprintf("repeat('a',%d) like concat('%%',repeat('a',%d),'b')", 2_000_000, 1_000_000): "0",
	} {
		var got *string
		if err := conn.QueryRowContext(t.Context(), "select "+statement).Scan(&got); err != nil {
			t.Errorf("%s: %v", statement, err)
		} else if got == nil && want != "NULL" || got != nil && *got != want {
			t.Errorf("%s is not %s", statement, want)
		}
	}
	var n int
	err := conn.QueryRowContext(t.Context(), "select count(*) from (select 'ab' t, 'a%' p union all select 'ab', "+
		"'b%' union all select 'bc', 'b%') x where t like p").Scan(&n)
	if err != nil || n != 2 {
		t.Errorf("%d rows fit the pattern beside them: %v", n, err)
	}
	if err := conn.QueryRowContext(t.Context(), "select 'a' like repeat('a', 20000000)").Scan(&n); err == nil {
		t.Error("a pattern that needs hundreds of megabytes is read")
	}
}

func TestABackslashBeforeAWildcardStays(t *testing.T) {
	for query, want := range map[string]string{
		`select 'a\%'`: `select 'a\\%'`, `'\\%'`: `'\\%'`, `'\\\_'`: `'\\\\_'`, "`\\%` '\\%'": "`\\%` '\\\\%'",
		`'it''s\_'`: `'it''s\\_'`, `'it\'s\_'`: `'it\'s\\_'`,
		`"'\%"`: `"'\\%"`, `/* ' \% */ '\%'`: `/* ' \% */ '\\%'`, "-- '\n'\\%'": "-- '\n'\\\\%'",
		"# '\n'\\%'": "# '\n'\\\\%'", `/*!50000 '\%'*/`: `/*!50000 '\\%'*/`,
		`1--'\%'`: `1--'\\%'`, `'\%`: `'\\%`, `'\%\`: `'\\%\`, `a \% b`: `a \% b`, `/* \%`: `/* \%`,
	} {
		if got := keepWildcards(query); got != want {
			t.Errorf("%s is read as %s, not %s", query, got, want)
		}
	}
}

// TestJSONSearchWithALongPatternInALongDocumentIsRefused searches what the library would compare for minutes.
func TestJSONSearchWithALongPatternInALongDocumentIsRefused(t *testing.T) {
	r := newRig(t, Config{}, nil)
	conn := r.connect("")
	for document, want := range map[string]uint16{
		`json_array(repeat('a', 1000000))`: erUnsupported, `concat('["', repeat('a', 1000000), '"]')`: erUnsupported,
		`json_array(repeat('a', 1000))`: 0,
	} {
		_, err := conn.ExecContext(t.Context(),
			"select json_search("+document+", 'one', concat('%', repeat('a', 5000), 'b'))")
		var got *driver.MySQLError
		if errors.As(err, &got); want == 0 && err != nil || want != 0 && (got == nil || got.Number != want) {
			t.Errorf("%s: %v", document, err)
		}
	}
}
