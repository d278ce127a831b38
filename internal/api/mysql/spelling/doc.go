// Package spelling writes parts of a statement that MySQL reads and the SQL parser
// (github.com/dolthub/vitess/go/vt/sqlparser) does not in another way, which means the same and which it reads:
//
//	TRIM(BOTH FROM a)                                TRIM(BOTH ' ' FROM a)
//	a IS UNKNOWN                                     a IS NULL
//	TIMESTAMPADD(SQL_TSI_DAY, 1, a)                  TIMESTAMPADD(DAY, 1, a)
//	INTERVAL '1 02:03' DAY_MINUTE                    INTERVAL 93780 SECOND
//	a = ANY (SELECT …), a <> ALL (SELECT …)          a IN (SELECT …), a NOT IN (SELECT …)
//	ROW(1, 2) = ROW(a, b)                            (1, 2) = (a, b)
//	SELECT DISTINCTROW, SELECT HIGH_PRIORITY         SELECT DISTINCT, SELECT
//	INSERT LOW_PRIORITY, DELETE QUICK                INSERT, DELETE
//	DELETE FROM a AS b WHERE …                       DELETE FROM a b WHERE …
//	DELETE FROM a AS b WHERE b.c LIMIT 1             DELETE FROM a WHERE a.c LIMIT 1
//	LOCK TABLE a READ                                LOCK TABLES a READ
//	SELECT … FOR SHARE                               SELECT … FOR UPDATE
//	SET time_zone = SYSTEM, binlog_format = ROW      SET time_zone = 'SYSTEM', binlog_format = 'ROW'
//	ALTER SCHEMA a                                   ALTER DATABASE a
//	b'1000001', 0b1000001                            x'41', x'41'
//	DATE '2026-01-02', TIME '03:04:05.5'             CAST('2026-01-02' AS DATE), CAST('03:04:05.5' AS TIME(1))
//	a--1                                             a- -1
//	N'text'                                          'text'
//	a > ALL (SELECT …)                               a > `ALL`((SELECT …))
//	@a := 1                                          `:=`(@a , 1)
//	INTERVAL(a, 1, 2)                                `INTERVAL`(a, 1, 2)
//	NTH_VALUE(a, 2) OVER w, CUME_DIST() OVER w       LAG(`NTH_VALUE`(a, 2)) OVER w, LAG(`CUME_DIST`()) OVER w
//	GROUP BY a WITH ROLLUP, GROUPING(a)              GROUP BY a, `ROLLUP`(), `GROUPING`(a)
//	~a                                               `~`() ^ a
//	{d '2026-01-02'}, {fn NOW()}, {oj a JOIN b …}    CAST('2026-01-02' AS DATE), NOW(), a JOIN b …
//
// The last ones are the escapes of ODBC and JDBC, the first comes from Hibernate. Those with names in backquotes are
// functions that the door has for them; Shown writes the name of a column as the client did. What stands in quotes and
// comments stays as it is, and so does what is none of these: the parser says what is wrong with it.
//
//	query = spelling.Rewrite(query, true)
//
// It takes a time that grows with the length of the text, keeps no state, and may be used by many goroutines at once.
package spelling
