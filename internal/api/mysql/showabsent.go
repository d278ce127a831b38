package mysql

import (
	"slices"
	"strings"
)

// eventColumns are those of the events of a log.
var eventColumns = []string{"Log_name", "Pos", "Event_type", "Server_id", "End_log_pos", "Info"}

// ofChannel is what names a channel of replication, and showCreateUser asks how an account was made.
var (
	ofChannel      = newForm(`(?is)\sfor\s+channel\s+(?:'([^']*)'|"([^"]*)"|(\w+))\s*;?\s*$`)
	showCreateUser = newForm(`(?is)^\s*show\s+create\s+user\s+(.+?)\s*;?\s*$`)
	showCreate     = newForm(
		"(?is)^\\s*show\\s+create\\s+(procedure|function|trigger|event)\\s+(?:(`(?:[^`]|``)+`|[\\w$]+)\\s*\\.\\s*)?" +
			"(`(?:[^`]|``)+`|[\\w$]+)\\s*;?\\s*$")
)

// showAbsent answers what is asked about that which this server has not, as a server of MySQL does that has none of it
// either: a binary log, replicas, stored programs. done is false for all else.
func (l *long) showAbsent(s *session, words []string) (done bool, err error) {
	two := strings.Join(words[:min(2, len(words))], " ")
	switch two {
	case "binlog events":
		return true, l.answerRows(eventColumns)
	case "relaylog events", "replica status", "slave status":
		channel := ofChannel.parts(l.query)
		switch {
		case channel != nil && channel[1]+channel[2]+channel[3] != "":
			return true, sqlError(3074, "HY000", "Replica channel '%.192s' does not exist.",
				channel[1]+channel[2]+channel[3])
		case two == "relaylog events":
			return true, l.answerRows(eventColumns)
		case channel != nil: // the one that has no name, which is meant without these words, too
			l.query = ofChannel.replace(l.query, "")
		}
	case "binary logs", "master logs":
		return true, sqlError(1381, "HY000", "You are not using binary logging")
	case "replicas":
		return true, l.answerRows([]string{"Server_Id", "Host", "Port", "Source_Id", "Replica_UUID"})
	case "slave hosts":
		return true, l.answerRows([]string{"Server_Id", "Host", "Port", "Master_Id", "Slave_UUID"})
	case "procedure code", "function code":
		return true, sqlError(1289, "HY000", "The 'SHOW PROCEDURE|FUNCTION CODE' feature is disabled; you need MySQL "+
			"built with '--with-debug' to have it working")
	case "create user":
		if m := showCreateUser.parts(l.query); m != nil {
			return true, l.createUser(s, m[1])
		}
	case "create procedure", "create function", "create trigger", "create event":
		m := showCreate.parts(l.query)
		if m == nil {
			return false, nil
		}
		switch name := strings.ReplaceAll(strings.Trim(m[3], "`"), "``", "`"); words[1] {
		case "trigger":
			return true, sqlError(1360, "HY000", "Trigger does not exist")
		case "event":
			return true, sqlError(1539, "HY000", "Unknown event '%.64s'", name)
		default:
			return true, sqlError(1305, "42000", "%s %.64s does not exist", upper(words[1]), name)
		}
	}
	return false, nil
}

// createUser tells of one's own account how it was made. MySQL shows that of others to who may read the database mysql.
func (l *long) createUser(s *session, of string) error {
	name, own := s.Client().User, s.isNamed(of)
	if !own {
		return sqlError(1044, "42000", "Access denied for user '%.96s'@'%%' to database 'mysql'", name)
	}
	who := "`" + strings.ReplaceAll(name, "`", "``") + "`@`%`"
	return l.answerRows([]string{"CREATE USER for " + name + "@%"}, []string{"CREATE USER " + who +
		" IDENTIFIED WITH 'mysql_native_password' AS '<secret>' REQUIRE NONE PASSWORD EXPIRE DEFAULT ACCOUNT UNLOCK " +
		"PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT"})
}

// isNamed tells whether a statement names the connection's own user.
func (s *session) isNamed(of string) bool {
	of = strings.ToLower(strings.Join(strings.Fields(of), ""))
	if slices.Contains([]string{"", "current_user", "current_user()"}, of) {
		return true
	}
	asked, _, _ := strings.Cut(strings.NewReplacer("'", "", "`", "", `"`, "").Replace(of), "@")
	return asked == strings.ToLower(s.Client().User)
}
