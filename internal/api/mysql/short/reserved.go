package short

// longestReserved is the length of the longest word in reserved and in reservedInPath.
const longestReserved = 29

// reserved tells whether the full parser takes a bare name for something else than a name, or refuses it, in one of the
// places where this package expects a name: a column, a table, an alias. Other keywords are names there, as in SELECT
// status, value FROM event.
func reserved(name string) bool {
	var buf [longestReserved]byte
	switch string(lower(buf[:], name)) {
	case "_armscii8", "_ascii", "_big5", "_binary", "_cp1250", "_cp1251", "_cp1256", "_cp1257", "_cp850", "_cp852",
		"_cp866",
		"_cp932", "_dec8", "_eucjpms", "_euckr", "_gb18030", "_gb2312", "_gbk", "_geostd8", "_greek", "_hebrew", "_hp8",
		"_keybcs2", "_koi8r", "_koi8u", "_latin1", "_latin2", "_latin5", "_latin7", "_macce", "_macroman", "_sjis",
		"_swe7",
		"_tis620", "_ucs2", "_ujis", "_utf16", "_utf16le", "_utf32", "_utf8", "_utf8mb3", "_utf8mb4",
		"accessible", "add", "all", "alter", "analyze", "and", "application_password_admin", "as", "asc", "asensitive",
		"audit_abort_exempt", "audit_admin", "authentication_policy_admin",
		"backup_admin", "before", "between", "bigint", "binary", "binlog_admin", "binlog_encryption_admin", "bit_and",
		"bit_or", "bit_xor", "blob", "both", "by",
		"call", "cascade", "case", "change", "char", "character", "check", "clone_admin", "collate", "column",
		"condition",
		"connection_admin", "constraint", "continue", "convert", "copy", "create", "cross", "cube", "cume_dist",
		"current_date", "current_time", "current_timestamp", "current_user", "cursor",
		"database", "databases", "day_hour", "day_microsecond", "day_minute", "day_second", "dec", "decimal", "declare",
		"default", "delayed", "delete", "dense_rank", "desc", "describe", "deterministic", "distinct", "distinctrow",
		"div",
		"double", "drop", "dual",
		"each", "else", "elseif", "empty", "enclosed", "encrypted", "encryption_key_admin", "encryption_key_id",
		"escape",
		"escaped", "except", "exclusive", "exists", "exit", "explain",
		"false", "fetch", "firewall_admin", "firewall_exempt", "firewall_user", "first_value", "float", "float4",
		"float8",
		"flush_optimizer_costs", "flush_status", "flush_tables", "flush_user_resources", "for", "force", "foreign",
		"format",
		"from", "fulltext", "function",
		"generated", "get", "grant", "group", "group_concat", "group_replication_admin", "group_replication_stream",
		"grouping", "groups",
		"having", "high_priority", "hour_microsecond", "hour_minute", "hour_second",
		"if", "ignore", "in", "index", "infile", "inner", "innodb_redo_log_archive", "innodb_redo_log_enable", "inout",
		"inplace", "insensitive", "insert", "int", "int1", "int2", "int3", "int4", "int8", "integer", "intersect",
		"interval",
		"into", "io_after_gtids", "io_before_gtids", "is", "itef_quotes", "iterate",
		"join", "json_arrayagg", "json_objectagg", "json_table",
		"key", "keys", "kill",
		"lag", "last_value", "lateral", "lead", "leading", "leave", "left", "like", "limit", "linear", "lines", "load",
		"localtime", "localtimestamp", "lock", "long", "longblob", "longtext", "loop", "low_priority",
		"master_bind", "master_ssl_verify_server_cert", "match", "maxvalue", "mediumblob", "mediumint", "mediumtext",
		"middleint", "minute_microsecond", "minute_second", "mod", "modifies",
		"natural", "ndb_stored_user", "next", "no_write_to_binlog", "not", "now", "nth_value", "ntile", "null",
		"numeric",
		"of", "off", "on", "optimize", "optimizer_costs", "option", "optionally", "or", "order", "out", "outer",
		"outfile",
		"over",
		"page_checksum", "page_compressed", "page_compression_level", "partition", "passwordless_user_admin",
		"percent_rank",
		"persist_ro_variables_admin", "plan", "precision", "primary", "procedure", "purge",
		"range", "rank", "read", "read_write", "reads", "real", "recursive", "references", "regexp", "release",
		"rename",
		"repeat", "replace", "replication_applier", "replication_slave_admin", "require", "resignal",
		"resource_group_admin",
		"resource_group_user", "restrict", "return", "returning", "revoke", "right", "rlike", "role_admin", "row",
		"row_number", "rows",
		"schema", "schemas", "second_microsecond", "select", "sensitive", "sensitive_variables_observer", "separator",
		"session_variables_admin", "set", "set_user_id", "shared", "show", "show_routine", "signal",
		"skip_query_rewrite",
		"smallint", "spatial", "specific", "sql", "sql_big_result", "sql_cache", "sql_calc_found_rows", "sql_no_cache",
		"sql_small_result", "sqlexception", "sqlstate", "sqlwarning", "ssl", "starting", "std", "stddev", "stddev_pop",
		"stddev_samp", "stored", "straight_join", "substr", "substring", "system", "system_time",
		"system_variables_admin",
		"table", "table_encryption_admin", "terminated", "then", "tinyblob", "tinyint", "tinytext", "to",
		"tp_connection_admin", "trailing", "transactional", "trigger", "true",
		"undo", "union", "unique", "unlock", "unsigned", "update", "usage", "use", "using", "utc_date", "utc_time",
		"utc_timestamp",
		"values", "var_pop", "var_samp", "varbinary", "varchar", "varcharacter", "variance", "varying", "vector",
		"version_token_admin", "virtual",
		"when", "where", "while", "window", "with", "write",
		"xa_recover_admin", "xor",
		"year_month", "yes",
		"zerofill":
		return true
	}
	return false
}

// reservedInPath tells the same of words that are only a trouble in database.table.
func reservedInPath(name string) bool {
	var buf [longestReserved]byte
	switch string(lower(buf[:], name)) {
	case "account", "attribute", "avg",
		"cast", "comment", "contained", "count",
		"event", "execute", "extract",
		"failed_login_attempts", "file", "first", "full",
		"get_format",
		"identified",
		"max", "min",
		"none",
		"password", "password_lock_time", "position", "process",
		"reload",
		"shutdown", "sum", "super",
		"timestampadd", "timestampdiff", "trim",
		"versions", "view":
		return true
	}
	return false
}

// lower is a name with its ASCII letters in lower case, written into buf. A name that is longer than buf is no word of
// ours: it is "".
func lower(buf []byte, name string) []byte {
	if len(name) > len(buf) {
		return nil
	}
	for i := range len(name) {
		b := name[i]
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		buf[i] = b
	}
	return buf[:len(name)]
}
