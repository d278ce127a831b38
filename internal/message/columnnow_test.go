package message

import (
	"testing"
	"time"
)

// TestTheTimeOfThePutAsADefault is read, written back, and given to rows without a value; only columns with a date and
// a time have it.
func TestTheTimeOfThePutAsADefault(t *testing.T) {
	for _, d := range []string{"`a` datetime default current_timestamp",
		"`a` timestamp(6) not null default current_timestamp"} {
		c, err := ParseColumn(d)
		if err != nil || !c.Now || c.Default != nil || c.String() != d {
			t.Errorf("%s: %+v, %v, written as %q", d, c, err, c.String())
		}
		now := time.Date(2026, 11, 23, 9, 48, 1, 234567000, time.FixedZone("", 3600))
		v, err := c.Missing(now)
		if want := now.UTC(); err != nil || v.Kind() != KindTime || want.Sub(v.AsTime()) > time.Second ||
			v.AsTime().Sub(want) > time.Second {
			t.Errorf("%s: a row without it has %v, %v", d, v, err)
		}
	}
	for _, d := range []string{"a int default current_timestamp", "a date default current_timestamp",
		"a datetime default current_timestamp default current_timestamp",
		"a datetime default '2020-01-01' default current_timestamp"} {
		if c, err := ParseColumn(d); err == nil {
			t.Errorf("%s: %+v", d, c)
		}
	}
}
