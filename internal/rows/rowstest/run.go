package rowstest

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/rows"
)

// Run runs the whole suite against one database.
func Run(t *testing.T, h Harness) {
	t.Helper()
	h.check(t)
	for _, p := range []struct {
		promise string
		test    func(*testing.T, *Harness)
	}{
		{"every kind is written as it is, at its limits", kinds},
		{"every kind is written as it is by upsert", kindsUpserted},
		{"names are quoted", names},
		{"bytes that are no UTF-8 are refused alone", invalidUTF8},
		{"a row may be huge", huge},
		{"a refused row is the only one, wherever it stands", poison},
		{"many refused rows are the only ones", manyPoisons},
		{"two rows of one key: one stays", twins},
		{"upsert puts the new row in the place of the old one", upserts},
		{"the last of several rows of one key stays", lastOfKey},
		{"rows of one key are written in order, whatever columns they have", inOrder},
		{"what comes again does no harm", again},
		{"every kind is written as it is by update", kindsUpdated},
		{"a row is found by every kind", foundByKinds},
		{"update sets what the message has in the row of its key", updates},
		{"updates of one key are made in order, whatever columns they have", updatesInOrder},
		{"delete deletes the row of the key", deletes},
		{"a row that is not there is counted, or refused", absentRows},
		{"a key that is no key of the table finds all its rows", looseKey},
		{"a refused update is the only one, wherever it stands", updatePoison},
		{"names are quoted by update and delete", namesFound},
		{"settings of update and delete that do not go with the table stop the start", findMisfits},
		{"updates get there through faults", func(t *testing.T, h *Harness) { foundFaults(t, h, rows.Update) }},
		{"deletions get there through faults", func(t *testing.T, h *Harness) { foundFaults(t, h, rows.Delete) }},
		{"a field without a column is refused or left out", unknownFields},
		{"a column without a field is default, null, or refused", missingFields},
		{"columns take what they are told to", mapping},
		{"attributes are fields, too", attributes},
		{"a table is made of definitions", created},
		{"a table is made of messages", inferred},
		{"a table that is not there stops the start", absent},
		{"a definition of no type stops the start", strangeType},
		{"settings that do not go with the table stop the start", misfits},
		{"a column that is added is found", addedColumn},
		{"a column that is dropped is missed", droppedColumn},
		{"a column of another type takes what it can", retyped},
		{"a table that was dropped is waited for", droppedTable},
		{"many sends at once", concurrent},
		{"a transaction that loses is tried again", conflict},
		{"sessions that are killed while they wait", killedIdle},
		{"sessions that are killed while they write", killedBusy},
		{"connections that are cut at any byte", cut},
		{"a commit whose answer is lost", lost},
		{"a database that hangs", hang},
		{"a database that is down at the start", downAtStart},
		{"a database that goes down and comes back", downAndUp},
	} {
		t.Run(p.promise, func(t *testing.T) { p.test(t, &h) })
	}
}

// check wants every hook, or the reason why it is missing.
func (h *Harness) check(t *testing.T) {
	t.Helper()
	for name, missing := range map[string]bool{
		"Huge": h.Huge == "", "None": h.None == "", "AddColumn": h.AddColumn == nil, "DropColumn": h.DropColumn == nil,
		"Retype": h.Retype == nil, "Conflict": h.Conflict == nil,
		"Kill": h.Kill == nil, "CutAfter": h.CutAfter == nil, "LoseAnswer": h.LoseAnswer == nil, "Hang": h.Hang == nil,
		"Down": h.Down == nil,
	} {
		if reason := h.Without[name]; missing == (reason == "") {
			t.Fatalf("the harness has to set %s, or say in Without why it does not; not both", name)
		}
	}
}

// without ends a test whose hook there is not, and says why.
func (h *Harness) without(t *testing.T, hook string) bool {
	reason, without := h.Without[hook]
	if without {
		t.Logf("not for this database: %s", reason)
	}
	return without
}
