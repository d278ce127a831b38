package mysql

import (
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
)

// erDivisionByZero is that of a division by 0.
const erDivisionByZero = 1365

// maxWarnings is how many warnings of a statement are kept, and counted.
const maxWarnings = 1024

// maxWarningText is the most bytes of a warning, as MySQL's.
const maxWarningText = 511

// warn leaves a warning for SHOW WARNINGS.
func (s *session) warn(code int, message string) {
	s.Warn(&gms.Warning{Level: "Warning", Code: code, Message: message})
}

// note leaves a note for it.
func (s *session) note(code int, message string) {
	s.Warn(&gms.Warning{Level: "Note", Code: code, Message: message})
}

// Warn keeps a warning: those of go-mysql-server in MySQL's words. A division by 0 is one where the mode says so, and
// ends an INSERT that is strict.
func (s *session) Warn(w *gms.Warning) {
	switch name := s.GetCurrentDatabase(); w.Code {
	case erDivisionByZero:
		if !s.mode.ModeEnabled(gms.ErrorForDivisionByZero) {
			return
		}
		if s.meter != nil && s.meter.strict {
			_ = s.meter.fail(sqlError(erDivisionByZero, "22012", "%s", w.Message)) // whoever asks next is told
		}
	case erBadTable:
		if table, ok := strings.CutPrefix(w.Message, "Unknown table '"); ok && !strings.Contains(table, ".") {
			w.Message = "Unknown table '" + name + "." + table
		}
	case 1007, 1008: // … database NAME; database …
		before, database, ok := strings.Cut(w.Message, " database ")
		if database, why, also := strings.Cut(database, ";"); ok && also && !strings.HasPrefix(database, "'") {
			w.Message = before + " database '" + database + "';" + strings.TrimRight(why, " ")
		}
	}
	if n := int(s.WarningCount()); n < maxWarnings && s.kept.warn(n+1) {
		w.Message = strings.ToValidUTF8(w.Message[:min(len(w.Message), maxWarningText)], "")
		s.BaseSession.Warn(w)
	}
}

// strictly tells whether a statement changes rows and is ended by what is not as it should be.
func (s *session) strictly(query string) bool {
	words := firstWords(query)
	if words[0] != "insert" && words[0] != "create" || !s.mode.Strict() {
		return false
	}
	for _, w := range words {
		switch w {
		case "ignore":
			return false
		case "into":
			return true
		}
	}
	return true
}

// nothings are what can be dropped where it is, and never is here: there are only tables.
var nothings = map[string]string{"view": "", "procedure": "PROCEDURE ", "function": "FUNCTION ", "trigger": "",
	"event": ""}

// dropNothing answers a DROP … IF EXISTS of what no server of queues has: with a note.
func (l *long) dropNothing(s *session, words []string) (done bool) {
	if len(words) < 4 || words[2] != "if" || words[3] != "exists" || l.answer == nil {
		return false
	}
	kind, ok := nothings[words[1]]
	if !ok {
		return false
	}
	name := strings.Trim(strings.TrimSpace(afterWords(l.query, 4)), "; \t\r\n")
	name = strings.ReplaceAll(name, "`", "")
	if !strings.Contains(name, ".") {
		name = s.GetCurrentDatabase() + "." + name
	}
	switch words[1] {
	case "view":
		s.note(erBadTable, "Unknown table '"+name+"'")
	case "trigger":
		s.note(1360, "Trigger does not exist")
	case "event":
		s.note(1539, "Unknown event '"+name[strings.LastIndexByte(name, '.')+1:]+"'")
	default:
		s.note(1305, kind+name+" does not exist")
	}
	return true
}
