// Package mysql is the door for MySQL clients: queues are tables of ENGINE=QUEUE, as Q4M made them, with its functions
// to take rows.
//
//	CREATE TABLE jobs (id varchar(255) NOT NULL, payload text NOT NULL, enqueued_at int unsigned NOT NULL) ENGINE=QUEUE;
//	INSERT INTO jobs VALUES ('a', '…', 1501686146);
//	SELECT queue_wait('jobs:enqueued_at>=1501686146', 5);  -- 1: a row is ours; 0: none came in five seconds
//	SELECT * FROM jobs;                                    -- the row that is ours
//	SELECT queue_end();                                    -- it is done
//
// # How it is made
//
// The protocol, the parser and everything that is SQL come from go-mysql-server. What is ours is a seat for each
// connection (the row that it owns and what it may still do with it), tables over queues, the functions, and a short
// path: the few statements that a worker sends all day are recognized from their text (room short) and go around the
// planner. Both paths end in the same methods of a session, so that they answer the same.
//
// Statements on the long way are looked at first (type long): what a queue cannot do is refused before anything is
// done, what go-mysql-server does not know is answered here, and what it says of engines is corrected. Files of the
// machine are out of reach of statements.
//
// Scripts in testdata show every behaviour. Each is run on the short path, on the long one and with prepared
// statements; FuzzStatements compares the paths on statements that nobody thought of.
//
// Who comes in is decided by room auth, what a connection is (sockets, and how its end is noticed) by room link.
//
// # What it keeps
//
// Nothing but the marks of queue_set_srcid and the names of databases, as notes of the store. Rows are messages of
// queues and can be put and taken through every other door.
//
// There is one door in a process: go-mysql-server keeps system variables and counters for the whole of it.
//
// It has to be built with the tag gms_pure_go; without it go-mysql-server wants cgo and ICU.
package mysql

import _ "github.com/hikyaku/hikyaku/internal/api/mysql/puretag" // says what is wrong when the build lacks the tag
