package mysql

// refuse tells what this server does not do, and what to do instead. It looks at a statement's first words.
func refuse(words []string) error {
	second := ""
	if len(words) > 1 {
		second = words[1]
	}
	switch words[0] {
	case "update", "replace":
		return sqlError(erNotAllowedEngine, "42000",
			"The storage engine QUEUE does not support %s: rows are put and taken, never changed (take the row with "+
				"queue_wait(), INSERT it anew, then queue_end())", upper(words[0]))
	case "load":
		return sqlError(erUnsupported, "42000", "This server reads no files: LOAD DATA is not supported (send the "+
			"rows in INSERTs)")
	case "grant", "revoke":
		return usersElsewhere()
	case "create", "alter", "drop", "rename":
		if second == "user" || second == "role" {
			return usersElsewhere()
		}
	case "set":
		if second == "password" || second == "role" {
			return usersElsewhere()
		}
	case "change", "stop", "reset", "purge", "binlog", "clone", "install", "uninstall", "shutdown", "restart":
		return sqlError(erUnsupported, "42000", "This server has no replication, plugins or remote control: %s is "+
			"not supported", upper(words[0]))
	}
	return nil
}

func usersElsewhere() error {
	return sqlError(erUnsupported, "42000", "Users and what they may do stand in the server's configuration "+
		"(users:), for every protocol at once")
}

func upper(word string) string {
	b := []byte(word)
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}
