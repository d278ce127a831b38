package rows

import (
	"errors"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
)

func TestADeletionThatMayHaveBeenMadeAlreadyIsNotRefusedForItsRow(t *testing.T) {
	d := newScripted()
	for k := range int64(5) {
		d.rows[k] = "old"
	}
	s := begin(t, d, Config{Mode: "delete", NoSuchRow: "reject"})
	d.lost = true
	all(t, sent(t, s, messages(0, 5)), component.Delivered)
	if n := s.Counts()["no_such_row"]; n != 0 || len(d.rows) > 0 {
		t.Errorf("%d rows were not there, %v are", n, d.rows)
	}
	outcomes := sent(t, s, messages(0, 1)) // this one is known
	all(t, outcomes, component.Rejected)
	if !errors.Is(outcomes[0].Reason, ErrNoRow) || s.Counts()["rejected"] != 1 || s.Counts()["no_such_row"] != 1 {
		t.Error(outcomes[0].Reason, s.Counts())
	}
}

func TestWhatAnUpdateDoesNotFindIsCountedOnceTheAnswerIsKnown(t *testing.T) {
	d := newScripted()
	d.rows[1] = "old"
	s := begin(t, d, Config{Mode: "update"})
	d.lost = true
	all(t, sent(t, s, messages(0, 3)), component.Delivered)
	if c := s.Counts(); c["no_such_row"] != 2 || c["rows"] != 1 || d.rows[1] != "v1" || len(d.rows) != 1 {
		t.Error(c, d.rows)
	}
}
