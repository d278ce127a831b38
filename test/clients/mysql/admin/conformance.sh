#!/usr/bin/env bash
# Does to a running hikyaku what those do who look after MySQL servers, and prints a line a check: "ok NAME" or "not ok NAME: why".
# The checks and the variables that say where the server is: ../README.md.
set -uo pipefail
export MYSQL_PWD=$CLIENT_PASSWORD
where=(--no-defaults --host="$CLIENT_HOST" --port="$CLIENT_PORT" --user="$CLIENT_USER")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

sql() { mysql "${where[@]}" --batch --skip-column-names "${2:-$CLIENT_DATABASE}" --execute="$1"; }
check() {
	local name=$1 why
	shift
	if why=$("$@" 2>&1); then
		echo "ok $name"
	else
		failed=1
		echo "not ok $name: $(tr '\n' ' ' <<<"$why")"
	fi
}

mysqladmin_works() {
	mysqladmin "${where[@]}" ping | grep -q alive &&
		mysqladmin "${where[@]}" status | grep -E '^Uptime: [1-9][0-9]*  Threads: [0-9]+  Questions: [0-9]+' &&
		mysqladmin "${where[@]}" extended-status | grep -E '\| Uptime +\| [1-9]' &&
		mysqladmin "${where[@]}" flush-tables
}
# Somebody waits for a row; who looks after the server sees that in the list, and ends the connection.
listed() { mysqladmin "${where[@]}" --verbose processlist; }
killing() {
	local waiter id='' ends=$((SECONDS + 60))
	sql 'CREATE TABLE killed (v int) ENGINE=QUEUE' || return
	sql "SELECT queue_wait('killed', 120)" >"$dir/killed" 2>&1 &
	waiter=$!
	until id=$(listed | awk -F'|' -v db="$CLIENT_DATABASE" '$5 ~ "^ *" db " *$" && /queue_wait\(.killed/ { gsub(/ /, "", $2); print $2 }') && [ -n "$id" ]; do
		[ $SECONDS -lt $ends ] || { listed; return 1; }
	done
	listed | head -n 2 | grep -E '\| Id +\| User +\| Host +\| db +\| Command +\| Time +\| State +\| Info ' &&
		listed | grep -E "^\| $id +\| $CLIENT_USER +\| [0-9.:]+ +\| $CLIENT_DATABASE +\| Query +\| [0-9]+ " &&
		mysqladmin "${where[@]}" kill "$id" || return
	if wait $waiter || ! grep -E '^ERROR (2013|1053|1317|1927)' "$dir/killed"; then
		cat "$dir/killed"
		return 1
	fi
	while listed | grep -E "^\| $id "; do
		[ $SECONDS -lt $ends ] || return
	done
	if mysqladmin "${where[@]}" kill "$id" 2>"$dir/killed" || ! grep 'Unknown thread id' "$dir/killed"; then
		cat "$dir/killed"
		return 1
	fi
	sql 'DROP TABLE killed'
}
nagios() {
	local password=() plugins=/usr/lib/nagios/plugins
	if [ -n "$CLIENT_PASSWORD" ]; then
		password=(-p "$CLIENT_PASSWORD")
	fi
	"$plugins/check_mysql" -H "$CLIENT_HOST" -P "$CLIENT_PORT" -u "$CLIENT_USER" "${password[@]}" | grep '^Uptime: [1-9]'
}
dumped() { sql 'SELECT id, hex(b), n, t, y, size, size + 0, tags FROM dumped; SHOW CREATE TABLE dumped' "$1"; }
# What mysqldump writes with its usual options, and with lines that dumps of other servers have, is restored as it was.
dump() {
	sql "CREATE TABLE dumped (id varchar(20) NOT NULL, b longblob, n int unsigned NOT NULL DEFAULT 5, t datetime(3), y year(4),
		size enum('s', 'it''s \\\\ l') NOT NULL DEFAULT 's', tags set('x', 'y')) ENGINE=QUEUE" &&
		sql "INSERT INTO dumped VALUES ('a', x'00ff27', 1, '2024-01-02 03:04:05.678', 2024, 2, 'y,x'), ('飛脚', NULL, 2, NULL, NULL, 's', NULL)" || return
	for options in '' '--single-transaction' '--lock-all-tables --flush-logs --hex-blob' '--skip-extended-insert --complete-insert --routines --events --triggers'; do
		# shellcheck disable=SC2086 # the options are words
		mysqldump "${where[@]}" $options "$CLIENT_DATABASE" dumped >"$dir/dump.sql" || return
		{
			printf '%s\n' 'CHANGE MASTER TO MASTER_LOG_FILE="mysql-bin.000003", MASTER_LOG_POS=194;' "SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ '3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5';"
			cat "$dir/dump.sql"
		} | mysql "${where[@]}" "${CLIENT_DATABASE}_restored" || return
		[ "$(dumped "${CLIENT_DATABASE}_restored")" = "$(dumped "$CLIENT_DATABASE")" ] || return
	done
	sql 'DROP TABLE dumped'
}
# A dump as MySQL 8.4's own mysqldump writes it with --databases --source-data --set-gtid-purged=ON is restored, twice, and leaves the
# session as it was.
restore() {
	local into=${CLIENT_DATABASE}_shop wanted got settings="SELECT @@time_zone, @@sql_mode, @@unique_checks, @@foreign_key_checks, @@sql_notes, @@character_set_client"
	wanted=$'a\t001A0A5C272278\t1\t1.50\t2024-01-02 03:04:05\tit\'s l\t飛脚\n飛脚 🚚\tNULL\t2\tNULL\tNULL\ts\tNULL'
	for _ in 1 2; do
		got=$({
			echo "$settings;"
			sed "s/\`shop\`/\`$into\`/" "$(dirname "$0")/mysqldump-8.4.sql"
			echo "$settings;"
		} | mysql "${where[@]}" --default-character-set=utf8mb4 --batch --skip-column-names) || return
		if [ "$(head -n 1 <<<"$got")" != "$(tail -n +2 <<<"$got")" ]; then
			echo "the settings were and are $got"
			return 1
		fi
		got=$(sql "SELECT id, hex(b), n, d, at, size, doc->>'$.k[1]' FROM orders" "$into")
		[ "$got" = "$wanted" ] || { echo "$got"; return 1; }
	done
	sql 'SHOW CREATE TABLE orders' "$into" | grep "COMMENT='what was ordered'" && sql "DROP DATABASE $into"
}
maintenance() {
	sql 'CREATE TABLE kept (v int) ENGINE=QUEUE' && mysqlcheck "${where[@]}" "$CLIENT_DATABASE" kept | grep -E 'kept +OK' &&
		mysqlcheck "${where[@]}" --optimize "$CLIENT_DATABASE" kept | grep -E 'kept +OK' && sql 'DROP TABLE kept'
}
exporter() {
	sql 'CREATE TABLE exported (v int) ENGINE=QUEUE' && bash "$(dirname "$0")/exporter.sh" && sql 'DROP TABLE exported'
}

check mysqladmin mysqladmin_works
check kill killing
check nagios nagios
check dump dump
check restore restore
check maintenance maintenance
check exporter exporter
exit $failed
