package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/rows"
)

// small is a database whose file may have few pages until room is made.
type small struct {
	database
	open []*session
}

func (d *small) Open(ctx context.Context) (rows.Session, error) {
	made, err := d.database.Open(ctx)
	if s, ok := made.(*session); ok {
		d.open = append(d.open, s)
		err = s.exec("pragma max_page_count = 8")
	}
	return made, err
}

func TestAFullFileIsWaitedForAndNothingIsLostOrDoubled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.db")
	c := Config{Database: file, Synchronous: "full",
		Config: rows.Config{Table: []string{"t"}, Create: "k int primary key, v text"}}
	d := &small{database: database{address: c.address()}}
	s, err := rows.New(d, c.Config, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var batch []*message.Message
	for k := range 20 {
		batch = append(batch, &message.Message{Body: fmt.Appendf(nil, `{"k":%d,"v":%q}`, k, strings.Repeat("x", 4000))})
	}
	outcomes, err := s.Send(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes {
		want(t, o, component.Retry, "full")
		if !o.Held {
			t.Error("it is counted as a try of the message")
		}
	}
	for _, s := range d.open {
		if err := s.exec("pragma max_page_count = 100000"); err != nil {
			t.Fatal(err)
		}
	}
	if outcomes, err = s.Send(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes {
		want(t, o, component.Delivered, "")
	}
	if got := read(t, other(t, file), "select count(*), count(distinct k) from t", 2); fmt.Sprint(got) != "[[20 20]]" {
		t.Error(got)
	}
}
