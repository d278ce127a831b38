#!/usr/bin/env bash
# Speaks to a running hikyaku with the shell of MariaDB (or MySQL's, by its name) and prints a line a check: "ok NAME" or "not ok NAME: why".
#
#   conformance.sh mariadb|mysql
#
# The checks and the variables that say where the server is: ../README.md.
set -uo pipefail

patience=60 # seconds that only a broken server needs
text='こんにちは 🚚 é'
bytes=$(printf '%02x' {0..255})
failed=0
tcp=(--protocol=TCP -h "$CLIENT_HOST" -P "$CLIENT_PORT")
socket=(--protocol=SOCKET -S "$CLIENT_SOCKET")
shell=("$1" --no-defaults --batch --raw --unbuffered --skip-column-names --default-character-set=utf8mb4 --connect-timeout="$patience")
secret=(-u "$CLIENT_USER" --password="$CLIENT_PASSWORD")
database=${CLIENT_DATABASE}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# sql runs the statements of its last argument on a connection of their own; options come before it.
sql() {
	timeout $((2 * patience)) "${shell[@]}" "${tcp[@]}" --skip-ssl "${secret[@]}" "${@:1:$#-1}" "$database" 2>&1 <<<"${!#}"
}

# check runs a function named like the check, with _ for -; it says in $why what is wrong.
check() {
	local why='' name=$1
	"check_${name//-/_}" || true
	if [ -z "$why" ]; then
		echo "ok $name"
	else
		failed=1
		why=${why//$'\n'/ | }
		echo "not ok $name: ${why:0:500}"
	fi
}

# want EXPECTED GOT; lines, with tabs between columns.
want() {
	if [ "$1" != "$2" ]; then
		why+="got '${2:0:200}', wanted '${1:0:200}'; "
	fi
}

# refused NUMBER SQLSTATE OUTPUT demands that MySQL's error of that number and SQLSTATE is in the output.
refused() {
	if [[ $3 != *"ERROR $1 ($2)"* ]]; then
		why+="got '${3:0:200}', wanted ERROR $1 ($2); "
	fi
}

lines() { printf '%s\n' "$@"; }
row() { local IFS=$'\t'; printf '%s\n' "$*"; }

check_connect_tcp() {
	want 1 "$(sql 'SELECT 1')"
	want 1 "$(sql --safe-updates 'SELECT 1')" # it sets max_join_size
}
check_connect_socket() {
	want 1 "$("${shell[@]}" "${socket[@]}" "${secret[@]}" "$database" -e 'SELECT 1' 2>&1)"
}
check_ping() { # what the shell asks on its own: \s is its status
	local status
	status=$(sql '\s')
	[[ $status == *"Server version"*hikyaku* && $status == *"$database"* ]] || why=$status
}
check_connect_tls() {
	local cipher
	cipher=$("${shell[@]}" "${tcp[@]}" --ssl --ssl-ca="$CLIENT_CA" --ssl-verify-server-cert "${secret[@]}" "$database" -e "SHOW STATUS LIKE 'Ssl_cipher'" 2>&1)
	[[ $cipher == Ssl_cipher$'\t'?* ]] || why="not encrypted: $cipher"
}
check_connect_native() { want 1 "$(sql --default-auth=mysql_native_password 'SELECT 1')"; }
check_connect_sha2() { want 1 "$(sql --default-auth=caching_sha2_password 'SELECT 1')"; }
check_wrong_password() {
	refused 1045 28000 "$(sql --password='not it' 'SELECT 1')"
	refused 1045 28000 "$(sql --skip-password 'SELECT 1')"
	refused 1045 28000 "$(sql -u nobody 'SELECT 1')"
}

check_create_table() {
	want '' "$(sql 'DROP TABLE IF EXISTS q4m_test;
		CREATE TABLE `q4m_test` (
		  `id` varchar(255) COLLATE utf8mb4_bin NOT NULL,
		  `payload` text COLLATE utf8mb4_bin NOT NULL,
		  `enqueued_at` int(10) unsigned NOT NULL
		) ENGINE=QUEUE;')"
}
check_show_table() {
	want q4m_test "$(sql "SHOW TABLES LIKE 'q4m_test'")"
	[[ $(sql 'SHOW CREATE TABLE q4m_test') == *ENGINE=QUEUE* ]] || why='SHOW CREATE TABLE names another engine'
	want "$(lines id payload enqueued_at)" "$(sql 'DESCRIBE q4m_test' | cut -f 1)"
	[[ $(sql "SHOW TABLE STATUS LIKE 'q4m_test'") == q4m_test$'\t'QUEUE$'\t'* ]] || why+='SHOW TABLE STATUS names another engine'
}
check_insert_text() { want 1 "$(sql "INSERT INTO q4m_test VALUES ('a', 'first', 10); SELECT ROW_COUNT()")"; }
check_insert_prepared() { # the shell has no binary protocol, but SQL has PREPARE
	want "$(lines 1 1)" "$(sql "PREPARE s FROM 'INSERT INTO q4m_test VALUES (?, ?, ?)'; SET @id = 'b', @text = '$text', @at = 20;
		EXECUTE s USING @id, @text, @at; SELECT ROW_COUNT(); SET @id = 'c', @at = 21;
		EXECUTE s USING @id, @text, @at; SELECT ROW_COUNT(); DEALLOCATE PREPARE s")"
}
check_insert_multi_row() {
	want 3 "$(sql "INSERT INTO q4m_test (enqueued_at, id, payload) VALUES (30, 'd', ''), (31, 'e', 'x'), (32, 'f', 'y'); SELECT ROW_COUNT()")"
}
check_insert_refused() {
	refused 1048 23000 "$(sql "INSERT INTO q4m_test VALUES ('g', 'z', 40), (NULL, 'z', 41)")"
	want 6 "$(sql 'SELECT COUNT(*) FROM q4m_test')"
}
check_select_unowned() {
	want "$(row a first 10; row b "$text" 20; row c "$text" 21; row d '' 30; row e x 31; row f y 32)" "$(sql 'SELECT * FROM q4m_test')"
	want "$(lines f e)" "$(sql 'SELECT id FROM q4m_test WHERE enqueued_at > 30 ORDER BY enqueued_at DESC')"
}
check_error_codes() {
	refused 1146 42S02 "$(sql 'SELECT * FROM no_such_table')"
	refused 1064 42000 "$(sql 'SELEKT 1')"
	refused 1050 42S01 "$(sql 'CREATE TABLE q4m_test (id int) ENGINE=QUEUE')"
}
check_abort_outside_owner_mode() { refused 1210 HY000 "$(sql 'SELECT queue_abort()')"; }

# Each of these is a connection of its own: what it owns at its end goes back.
check_wait() { want 1 "$(sql "SELECT queue_wait('q4m_test')")"; }
check_own_row_text() { want "$(lines 1; row a first 10)" "$(sql "SELECT queue_wait('q4m_test'); select * from q4m_test")"; }
check_rowid() { want "$(lines 1 1)" "$(sql "SELECT queue_wait('q4m_test'); SELECT queue_rowid()")"; }
check_abort() {
	want "$(lines 1 1 1 1)" "$(sql "SELECT queue_wait('q4m_test'); SELECT queue_abort(); SELECT queue_wait('q4m_test', 0); SELECT queue_rowid()")"
}
check_end() {
	want "$(lines 1 1 5)" "$(sql "SELECT queue_wait('q4m_test'); select queue_end(); SELECT COUNT(*) FROM q4m_test")"
}
check_wait_condition() {
	want "$(lines 1; row e x 31; lines 2; row b "$text" 20; lines 1)" "$(sql "
		SELECT queue_wait('q4m_test:enqueued_at>=31', 5); SELECT * FROM q4m_test;
		SELECT queue_wait('q4m_test:enqueued_at>99', 'q4m_test:enqueued_at<31', 5); SELECT * FROM q4m_test; SELECT queue_end()")"
}
check_wait_prepared() {
	want "$(lines 1; row f y 32; lines 1)" "$(sql "PREPARE s FROM 'SELECT queue_wait(?, ?)'; SET @t = 'q4m_test:enqueued_at=32', @s = 5;
		EXECUTE s USING @t, @s; SELECT * FROM q4m_test; SELECT queue_end()")"
}
check_time_out() {
	want "$(lines 0 NULL 1)" "$(sql "SELECT queue_wait('q4m_test:enqueued_at>99', 1); SELECT * FROM q4m_test; SELECT queue_rowid(); SELECT queue_end()")"
}
check_bad_condition() {
	local got
	got=$(sql "SELECT queue_wait('q4m_test:enqueued_at>>', 1); SHOW WARNINGS")
	[[ $got == NULL$'\n'Warning$'\t'1210$'\t'*character* ]] || why="got $got"
	want NULL "$(sql "SELECT queue_wait('no_such_table', 0)")"
}
check_wake_up() {
	sql "SELECT queue_wait('q4m_test:enqueued_at=77', $patience); SELECT queue_end()" >"$scratch/waiter" &
	sql "INSERT INTO q4m_test VALUES ('w', 'wake', 77)" >"$scratch/insert"
	wait $!
	want "$(lines 1 1)" "$(cat "$scratch/insert" "$scratch/waiter")"
}
check_disconnect() {
	local got
	coproc other { exec "${shell[@]}" "${socket[@]}" "${secret[@]}" "$database" 2>&1; }
	echo "SELECT queue_wait('q4m_test:enqueued_at=30', 0);" >&"${other[1]}"
	read -r -t "$patience" got <&"${other[0]}"
	want 1 "$got"
	want 0 "$(sql "SELECT queue_wait('q4m_test:enqueued_at=30', 0)")"
	kill -9 "$other_PID"
	wait "$other_PID" 2>/dev/null
	want "$(lines 1 1)" "$(sql "SELECT queue_wait('q4m_test:enqueued_at=30', $patience); SELECT queue_end()")"
}

check_types_insert_text() {
	want 1 "$(sql "DROP TABLE IF EXISTS kinds;
		CREATE TABLE kinds (
		  t tinyint NOT NULL, i int, u bigint unsigned, d decimal(20,4), f float, g double,
		  at datetime(6), day date, s varchar(255) CHARACTER SET utf8mb4, b blob, n int,
		  e enum('small', 'large'), w set('a', 'b', 'c')
		) ENGINE=QUEUE;
		INSERT INTO kinds VALUES (-128, -2147483648, 18446744073709551615, -1234567890123456.7890, 1.5, 0.1,
		  '2026-11-22 03:04:05.678901', '2026-11-22', '$text', x'$bytes', NULL, 'large', 5); SELECT ROW_COUNT()")"
	refused 1265 01000 "$(sql "INSERT INTO kinds (t, e) VALUES (1, 'huge')")"
}
kinds() { row -128 -2147483648 18446744073709551615 -1234567890123456.7890 1.5 0.1 '2026-11-22 03:04:05.678901' 2026-11-22 "$text" "$1" NULL large a,c; }
hex() { od -An -v -tx1 | tr -d ' \n'; }
check_types_read_text() {
	want "$(kinds "${bytes^^}")" "$(sql 'SELECT t, i, u, d, f, g, at, day, s, HEX(b), n, e, w FROM kinds')"
	want "$(row 2 5 -128.0000)" "$(sql 'SELECT MAX(e + 0), MAX(w + 0), AVG(t) FROM kinds')"
}
check_types_own_row() {
	local got
	got=$(sql "SELECT queue_wait('kinds', 0); SELECT * FROM kinds; SELECT queue_end()" | hex)
	# The shell ends each line with \n. All 256 bytes are in the middle of the second one.
	want "$(printf '1\n' | hex)$({ kinds @ | sed 's/@.*//' | tr -d '\n'; } | hex)$bytes$({ printf '\tNULL\tlarge\ta,c\n1\n'; } | hex)" "$got"
}
check_long_row() { # 0.8 MB
	local i long=$text
	for i in {1..15}; do long+=$long; done
	want "$(echo 1; printf '%s' "$long" | sha256sum)" "$(sql "DROP TABLE IF EXISTS letters; CREATE TABLE letters (id int, payload longtext) ENGINE=QUEUE;
		INSERT INTO letters VALUES (1, '$long'); SELECT ROW_COUNT()")
$(sql 'SELECT payload FROM letters' | tr -d '\n' | sha256sum)"
}
check_large_packet() { # the server takes 25 MiB
	local got
	got=$({ printf "SELECT LENGTH('"; head -c $((26 << 20)) /dev/zero | tr '\0' x; printf "');"; } >"$scratch/large"
		timeout $((2 * patience)) "${shell[@]}" "${tcp[@]}" --skip-ssl "${secret[@]}" --max-allowed-packet=64M "$database" 2>&1 <"$scratch/large")
	refused 1153 08S01 "$got"
}
check_set_names() { want "$(row "$text" utf8mb4)" "$(sql "SET NAMES utf8mb4; SELECT '$text', @@character_set_client")"; }
check_transactions() {
	local before
	before=$(sql 'SELECT COUNT(*) FROM q4m_test')
	got=$(sql "SET autocommit = 0; START TRANSACTION; INSERT INTO q4m_test VALUES ('t', 'kept', 60); COMMIT;
		BEGIN; INSERT INTO q4m_test VALUES ('u', 'kept', 61); ROLLBACK; SHOW WARNINGS; SET autocommit = 1")
	[[ $got == Warning$'\t'1196$'\t'* ]] || why="the warnings are $got"
	want $((before + 2)) "$(sql 'SELECT COUNT(*) FROM q4m_test')"
}
check_drop_table() {
	want '' "$(sql 'DROP TABLE q4m_test; DROP TABLE kinds, letters')"
	refused 1146 42S02 "$(sql 'SELECT * FROM q4m_test')"
}

check connect-tcp
check connect-socket
check ping
if [ -n "$CLIENT_CA" ]; then
	check connect-tls
fi
if [ -n "$CLIENT_PASSWORD" ]; then
	check connect-native
	check connect-sha2
	check wrong-password
fi
for name in create-table show-table insert-text insert-prepared insert-multi-row insert-refused select-unowned error-codes \
	abort-outside-owner-mode wait own-row-text rowid abort end wait-condition wait-prepared time-out bad-condition wake-up disconnect \
	types-insert-text types-read-text types-own-row long-row large-packet set-names transactions drop-table; do
	check "$name"
done
exit $failed
