package tsurugi_test

import (
	"errors"
	"math"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/tsurugi"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest"
)

// A column of each type, with values up to its limits.
func everyType(t *testing.T) []struct {
	sql    string
	typ    tsurugi.Type
	values []tsurugi.Value
} {
	t.Helper()
	most, ok := new(big.Int).SetString("99999999999999999999999999999999999999", 10)
	if !ok {
		t.Fatal("the largest decimal is none")
	}
	at := time.Date(2026, 7, 1, 23, 59, 59, 999_999_999, time.UTC)
	early, late := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
	return []struct {
		sql    string
		typ    tsurugi.Type
		values []tsurugi.Value
	}{
		{"INT", tsurugi.Int4Type, []tsurugi.Value{tsurugi.Int4(math.MinInt32), tsurugi.Int4(-17), tsurugi.Int4(-16),
			tsurugi.Int4(0), tsurugi.Int4(63), tsurugi.Int4(64), tsurugi.Int4(math.MaxInt32)}},
		{"BIGINT", tsurugi.Int8Type, []tsurugi.Value{tsurugi.Int8(math.MinInt64), tsurugi.Int8(-1),
			tsurugi.Int8(1 << 40), tsurugi.Int8(math.MaxInt64)}},
		{"REAL", tsurugi.Float4Type,
			[]tsurugi.Value{tsurugi.Float4(-math.MaxFloat32), tsurugi.Float4(math.SmallestNonzeroFloat32),
				tsurugi.Float4(1.5), tsurugi.Float4(float32(math.Inf(1)))}},
		{"DOUBLE", tsurugi.Float8Type,
			[]tsurugi.Value{tsurugi.Float8(-math.MaxFloat64), tsurugi.Float8(math.SmallestNonzeroFloat64),
				tsurugi.Float8(math.Pi), tsurugi.Float8(math.NaN()), tsurugi.Float8(math.Inf(-1))}},
		{"DECIMAL(38,0)", tsurugi.DecimalType,
			[]tsurugi.Value{tsurugi.BigDecimal(most, 0), tsurugi.BigDecimal(new(big.Int).Neg(most), 0),
				tsurugi.Decimal(0, 0), tsurugi.Decimal(math.MinInt64, 0)}},
		{"DECIMAL(38,10)", tsurugi.DecimalType,
			[]tsurugi.Value{tsurugi.Decimal(-1, -10), tsurugi.Decimal(12_345_678_900, -10)}},
		{"VARCHAR(*)", tsurugi.CharacterType, []tsurugi.Value{tsurugi.Text(""), tsurugi.Text(strings.Repeat("日", 64)),
			tsurugi.Text(strings.Repeat("x", 64)), tsurugi.Text(strings.Repeat("x", 65)),
			tsurugi.Text(strings.Repeat("é", 15_000)), tsurugi.Text(strings.Repeat("x", 2_097_132))}},
		{"CHAR(5)", tsurugi.CharacterType, []tsurugi.Value{tsurugi.Text("12345")}},
		{"VARBINARY(*)", tsurugi.OctetType, []tsurugi.Value{tsurugi.Bytes(nil), tsurugi.Bytes([]byte{0, 0xff}),
			tsurugi.Bytes(make([]byte, 16)), tsurugi.Bytes(make([]byte, 17)), tsurugi.Bytes(make([]byte, 30_000))}},
		{"BINARY(3)", tsurugi.OctetType, []tsurugi.Value{tsurugi.Bytes([]byte{1, 2, 3})}},
		{"DATE", tsurugi.DateType, []tsurugi.Value{tsurugi.Date(early), tsurugi.Days(-1), tsurugi.Days(0),
			tsurugi.Date(late)}},
		{"TIME", tsurugi.TimeOfDayType, []tsurugi.Value{tsurugi.NanosOfDay(0), tsurugi.TimeOfDay(at)}},
		{"TIMESTAMP", tsurugi.TimePointType, []tsurugi.Value{tsurugi.TimePoint(early), tsurugi.Seconds(-1, 999_999_999),
			tsurugi.Seconds(0, 0), tsurugi.TimePoint(late)}},
		{"TIME WITH TIME ZONE", tsurugi.TimeOfDayWithTimeZoneType, []tsurugi.Value{tsurugi.TimeOfDayWithTimeZone(at)}},
		{"TIMESTAMP WITH TIME ZONE", tsurugi.TimePointWithTimeZoneType,
			[]tsurugi.Value{tsurugi.TimePointWithTimeZone(early), tsurugi.TimePointWithTimeZone(late)}},
	}
}

func TestEveryTypeComesBackAsItWasSent(t *testing.T) {
	t.Parallel()
	s := connect(t, endpoint(t), tsurugi.Config{})
	for _, c := range everyType(t) {
		t.Run(c.sql, func(t *testing.T) {
			name := table(t, s, "id INT PRIMARY KEY, v "+c.sql)
			insert := prepare(t, s, "INSERT INTO "+name+" VALUES (:id, :v)", holder("id", tsurugi.Int4Type),
				holder("v", c.typ))
			values := append(c.values, tsurugi.Null())
			tx := begin(t, s, tsurugi.TxOptions{})
			for i, v := range values {
				if _, err := tx.Send(t.Context(), insert, tsurugi.Int4(int32(i)), v); err != nil {
					t.Fatal(err)
				}
			}
			if err := tx.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			rows, err := begin(t, s, tsurugi.TxOptions{}).Query(t.Context(), "SELECT v FROM "+name+" ORDER BY id")
			if err != nil {
				t.Fatal(err)
			}
			if got := rows.Columns()[0].Type; got != c.typ {
				t.Errorf("the column has the type %v, wanted %v", got, c.typ)
			}
			for i := 0; rows.Next(t.Context()); i++ {
				got, want := rows.Values()[0], values[i]
				if got.String() != want.String() || got.Type() != want.Type() {
					t.Errorf("got %v %.100v, wanted %v %.100v", got.Type(), got, want.Type(), want)
				}
			}
			if err := rows.Err(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestTimesWithZonesComeBackAsTheSameMoment(t *testing.T) {
	t.Parallel()
	s := connect(t, endpoint(t), tsurugi.Config{})
	name := table(t, s, "id INT PRIMARY KEY, moment TIMESTAMP WITH TIME ZONE")
	insert := prepare(t, s, "INSERT INTO "+name+" VALUES (:id, :at)", holder("id", tsurugi.Int4Type),
		holder("at", tsurugi.TimePointWithTimeZoneType))
	want := time.Date(2026, 1, 1, 8, 30, 0, 1000, time.FixedZone("", 9*3600+30*60))
	tx := begin(t, s, tsurugi.TxOptions{})
	if _, err := tx.ExecPrepared(t.Context(), insert, tsurugi.Int4(1),
		tsurugi.TimePointWithTimeZone(want)); err != nil {
		t.Fatal(err)
	}
	rows, err := tx.Query(t.Context(), "SELECT moment FROM "+name)
	if err != nil {
		t.Fatal(err)
	}
	if !rows.Next(t.Context()) || !rows.Values()[0].Time().Equal(want) {
		t.Errorf("got %v, wanted %v", rows.Values(), want)
	}
	if err := rows.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestValuesThatTheServerWouldMisunderstandAreNotSent(t *testing.T) {
	t.Parallel()
	s := connect(t, endpoint(t), tsurugi.Config{})
	name := table(t, s, "id INT PRIMARY KEY, v VARCHAR(10)")
	insert := prepare(t, s, "INSERT INTO "+name+" VALUES (:id, :v)", holder("id", tsurugi.Int4Type),
		holder("v", tsurugi.CharacterType))
	tx := begin(t, s, tsurugi.TxOptions{})
	for what, values := range map[string][]tsurugi.Value{
		"too few":   {tsurugi.Int4(1)},
		"too many":  {tsurugi.Int4(1), tsurugi.Text("a"), tsurugi.Text("b")},
		"not UTF-8": {tsurugi.Int4(1), tsurugi.Text("\xff")},
	} {
		if _, err := tx.Send(t.Context(), insert, values...); !errors.Is(err, tsurugi.ErrParams) {
			t.Errorf("%s: %v", what, err)
		}
	}
	// The transaction can go on.
	if _, err := tx.Send(t.Context(), insert, tsurugi.Int4(1), tsurugi.Text("a")); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestGoValuesHaveTheTypeThatHoldsThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   any
		want tsurugi.Type
		out  any
	}{
		{nil, tsurugi.NullType, nil},
		{true, tsurugi.BooleanType, true},
		{int8(-1), tsurugi.Int4Type, int32(-1)},
		{int32(5), tsurugi.Int4Type, int32(5)},
		{5, tsurugi.Int8Type, int64(5)},
		{uint32(math.MaxUint32), tsurugi.Int8Type, int64(math.MaxUint32)},
		{uint64(math.MaxInt64), tsurugi.Int8Type, int64(math.MaxInt64)},
		{float32(0.5), tsurugi.Float4Type, float32(0.5)},
		{0.25, tsurugi.Float8Type, 0.25},
		{"x", tsurugi.CharacterType, "x"},
		{[]byte(nil), tsurugi.NullType, nil},
		{big.NewInt(12), tsurugi.DecimalType, "12"},
		{tsurugi.Days(1), tsurugi.DateType, time.Date(1970, 1, 2, 0, 0, 0, 0, time.UTC)},
	} {
		v, err := tsurugi.ValueOf(c.in)
		if err != nil || v.Type() != c.want || v.Any() != c.out {
			t.Errorf("%T %v: got %v %v (%v), wanted %v", c.in, c.in, v.Type(), v.Any(), err, c.want)
		}
	}
	for _, bad := range []any{uint64(math.MaxUint64), struct{}{}, complex(1, 1)} {
		if _, err := tsurugi.ValueOf(bad); err == nil {
			t.Errorf("%T is taken", bad)
		}
	}
}

// With a real server this would need a machine, and permissions, in common.
func TestLargeObjectsAreFilesOfTheServers(t *testing.T) {
	t.Parallel()
	s := connect(t, tsurugitest.Start(t, tsurugitest.Config{}).Endpoint(), tsurugi.Config{})
	run(t, s, "CREATE TABLE t (id INT PRIMARY KEY, b BLOB, c CLOB)")
	path := filepath.Join(t.TempDir(), "picture")
	insert := prepare(t, s, "INSERT INTO t VALUES (:id, :b, :c)", holder("id", tsurugi.Int4Type),
		holder("b", tsurugi.BlobType), holder("c", tsurugi.ClobType))
	tx := begin(t, s, tsurugi.TxOptions{})
	if _, err := tx.ExecPrepared(t.Context(), insert, tsurugi.Int4(1), tsurugi.BlobFile(path),
		tsurugi.Null()); err != nil {
		t.Fatal(err)
	}
	rows, err := tx.Query(t.Context(), "SELECT b, c FROM t")
	if err != nil {
		t.Fatal(err)
	}
	if !rows.Next(t.Context()) || !rows.Values()[1].IsNull() {
		t.Fatal("no row", rows.Err())
	}
	object := rows.Values()[0]
	if err := rows.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := tx.ObjectFile(t.Context(), object); err != nil || got != path {
		t.Errorf("got %s (%v), wanted %s", got, err, path)
	}
	if _, err := tx.ObjectFile(t.Context(), tsurugi.Int4(1)); !errors.Is(err, tsurugi.ErrParams) {
		t.Errorf("a number: %v", err)
	}
	if _, err := tx.Send(t.Context(), insert, tsurugi.Int4(2), object, tsurugi.Null()); !errors.Is(err,
		tsurugi.ErrParams) {
		t.Errorf("a reference is sent: %v", err)
	}
}

// A column without a length holds 2,097,132 bytes, and text no NUL.
func TestTwoMegabytesAreOneValue(t *testing.T) {
	t.Parallel()
	const most = 2_097_132
	s := connect(t, endpoint(t), tsurugi.Config{})
	name := table(t, s, "id INT PRIMARY KEY, v VARCHAR(*), b VARBINARY(*)")
	insert := prepare(t, s, "INSERT INTO "+name+" VALUES (:id, :v, :b)", holder("id", tsurugi.Int4Type),
		holder("v", tsurugi.CharacterType), holder("b", tsurugi.OctetType))
	tx := begin(t, s, tsurugi.TxOptions{})
	long := strings.Repeat("十", most/3)
	for id := range 3 {
		if _, err := tx.Send(t.Context(), insert, tsurugi.Int4(int32(id)), tsurugi.Text(long),
			tsurugi.Bytes(make([]byte, most))); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := tx.Query(t.Context(), "SELECT v, b FROM "+name)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if !rows.Next(t.Context()) || rows.Values()[0].Text() != long || len(rows.Values()[1].Text()) != most {
			t.Fatal("it is not what was sent", rows.Err())
		}
	}
	if err := rows.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for what, values := range map[string][]tsurugi.Value{
		"a text of one byte more": {tsurugi.Int4(9), tsurugi.Text(long + "x"), tsurugi.Null()},
		"bytes of one more":       {tsurugi.Int4(9), tsurugi.Null(), tsurugi.Bytes(make([]byte, most+1))},
		"a NUL":                   {tsurugi.Int4(9), tsurugi.Text("a\x00b"), tsurugi.Null()},
	} {
		if _, err := begin(t, s, tsurugi.TxOptions{}).ExecPrepared(t.Context(), insert,
			values...); !tsurugi.IsConstraint(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// What the server refuses when it is prepared: reserved words as names, a placeholder for LIMIT, placeholders of types
// that it does not convert.
func TestStatementsThatTheServerDoesNotPrepare(t *testing.T) {
	t.Parallel()
	s := connect(t, endpoint(t), tsurugi.Config{})
	name := table(t, s, `id INT PRIMARY KEY, "at" TIMESTAMP, price DECIMAL(10,2)`)
	for sql, typ := range map[string]tsurugi.Type{
		"INSERT INTO " + name + " (id, at) VALUES (1, :x)":        tsurugi.TimePointType,
		"SELECT at FROM " + name + " WHERE id = :x":               tsurugi.Int4Type,
		"CREATE TABLE " + name + "2 (id INT PRIMARY KEY, at INT)": 0,
		"SELECT id FROM " + name + " LIMIT :x":                    tsurugi.Int8Type,
		"UPDATE " + name + ` SET price = 1 WHERE "at" = :x`:       tsurugi.TimePointWithTimeZoneType,
		"INSERT INTO " + name + ` (id, "at") VALUES (1, :x)`:      tsurugi.TimePointWithTimeZoneType,
		"INSERT INTO " + name + " (id, price) VALUES (1, :x)":     tsurugi.Float8Type,
		"INSERT INTO " + name + " (id) VALUES (:x)":               tsurugi.CharacterType,
	} {
		var e *tsurugi.Error
		if _, err := s.Prepare(t.Context(), sql, holder("x", typ)); !errors.As(err, &e) ||
			e.Code != tsurugi.CodeSyntax && e.Code != tsurugi.CodeTypeAnalyze {
			t.Errorf("%s: %v", sql, err)
		}
	}
	prepare(t, s, "INSERT INTO "+name+` (id, "at", price) VALUES (:x, NULL, :x)`, holder("x", tsurugi.Int8Type))
}
