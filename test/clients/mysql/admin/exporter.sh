#!/usr/bin/env bash
# Lets mysqld_exporter look at a running hikyaku, and demands what Prometheus would be told. Prints what is wrong.
set -uo pipefail
log=$(mktemp)
host=127.0.0.1
DATA_SOURCE_NAME="$CLIENT_USER:$CLIENT_PASSWORD@tcp($CLIENT_HOST:$CLIENT_PORT)/" prometheus-mysqld-exporter --web.listen-address="$host:0" \
	--collect.info_schema.tables --collect.info_schema.processlist --collect.info_schema.clientstats --collect.auto_increment.columns \
	--collect.binlog_size --collect.info_schema.schemastats --collect.info_schema.tablestats --collect.info_schema.userstats \
	--collect.info_schema.innodb_cmp --collect.info_schema.innodb_cmpmem --collect.info_schema.query_response_time 2>"$log" &
exporter=$!
trap 'kill $exporter 2>/dev/null; wait $exporter 2>/dev/null; rm -f "$log"' EXIT
port=
for _ in $(seq 300); do # it says nothing but this when it is ready
	port=$(sed -n 's/.*Listening on.*address=[^ ]*:\([0-9]*\).*/\1/p' "$log")
	[ -n "$port" ] && break
	kill -0 $exporter 2>/dev/null || break
	sleep 0.1
done
if [ -z "$port" ]; then
	echo "it does not listen: $(tail -3 "$log")"
	exit 1
fi
exec 3<>"/dev/tcp/$host/$port" || exit
printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3
answer=$(cat <&3)
for want in '^HTTP/1.. 200' '^mysql_up 1' '^mysql_exporter_last_scrape_error 0' '^mysql_global_status_uptime [1-9]' \
	'^mysql_global_status_queries [1-9]' '^mysql_global_variables_max_connections [1-9]' '^mysql_version_info.*version="8' \
	'^mysql_info_schema_table_rows.*table="exported"'; do
	if ! grep -q "$want" <<<"$answer"; then
		echo "no line is $want: $(grep -E 'level=(error|warn)|^mysql_(up|exporter)|^HTTP' "$log" - <<<"$answer" | head -20)"
		exit 1
	fi
done
