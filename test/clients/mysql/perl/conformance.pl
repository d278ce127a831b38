#!/usr/bin/perl
# Speaks to a running hikyaku with Perl's DBD::mysql and prints a line a check: "ok NAME" or "not ok NAME: why".
# The checks and the variables that say where the server is: ../README.md.
use strict;
use warnings;
use utf8;
use Data::Dumper;
use DBI qw(:sql_types);
use MIME::Base64 ();

$| = 1;
binmode STDOUT, ':encoding(UTF-8)';
local ($Data::Dumper::Terse, $Data::Dumper::Indent, $Data::Dumper::Useqq) = (1, 0, 1);

my ($host, $port, $socket, $user, $password, $database, $ca) =
  map { $ENV{"CLIENT_$_"} // die "CLIENT_$_ is not set\n" } qw(HOST PORT SOCKET USER PASSWORD DATABASE CA);
my $patience = 60;    # seconds that only a broken server needs
my $text = 'こんにちは 🚚 é';
my $bytes = join '', map { chr } 0 .. 255;
my $failed = 0;

my $tcp = "host=$host;port=$port";
my $unix = "mysql_socket=$socket";

# login connects. Statements are prepared by the server if $prepares.
sub login {
    my ($where, $prepares, $name, $secret) = @_;
    return DBI->connect(
        "DBI:mysql:database=$database;mysql_connect_timeout=$patience;mysql_read_timeout=$patience;$where",
        $name // $user, $secret // $password,
        { RaiseError => 1, PrintError => 0, AutoCommit => 1, mysql_enable_utf8mb4 => 1, mysql_server_prepare => $prepares // 0 },
    );
}

sub check {
    my ($name, $body) = @_;
    local $SIG{ALRM} = sub { die "it took too long\n" };
    alarm 2 * $patience;
    my $ok = eval { $body->(); 1 };
    my $why = $@;
    alarm 0;
    if ($ok) { print "ok $name\n"; return }
    $failed = 1;
    $why =~ s/\s+/ /g;
    print "not ok $name: ", substr($why, 0, 500), "\n";
}

sub want {
    my ($expected, $got) = @_;
    die 'got ', Dumper($got), ', wanted ', Dumper($expected) unless same($expected, $got);
}

# same compares by value: Perl does not tell 1 from "1", nor the two ways in which it keeps a text.
sub same {
    my ($a, $b) = @_;
    return !defined $a && !defined $b unless defined $a && defined $b;
    return $a eq $b unless ref $a && ref $b;
    return @$a == @$b && !grep { !same($a->[$_], $b->[$_]) } 0 .. $#$a;
}

# refused demands that MySQL's error of that number and SQLSTATE is raised.
sub refused {
    my ($number, $state, $body) = @_;
    die "nothing was raised, wanted error $number ($state)" if eval { $body->(); 1 };
    want([$number, $state], [ 0 + ($DBI::err // die $@), $DBI::state ]);
}

sub rows {
    my ($db, $sql, @args) = @_;
    return $db->selectall_arrayref($sql, undef, @args);
}
sub value { rows(@_)->[0][0] }

check('connect-tcp', sub { want(1, value(login($tcp), 'SELECT 1')) });
check('connect-socket', sub { want(1, value(login($unix), 'SELECT 1')) });
check('ping', sub { want(1, login($tcp)->ping) });
if ($ca ne '') {
    check('connect-tls', sub {
        # Its library can neither insist on TLS nor check the name.
        my $db = login("$tcp;mysql_ssl=1;mysql_ssl_optional=1;mysql_ssl_ca_file=$ca");
        die 'the connection is not encrypted' unless rows($db, "SHOW STATUS LIKE 'Ssl_cipher'")->[0][1];
    });
}
if ($password ne '') {
    # It takes the method that the greeting names.
    check('connect-native', sub { want(1, value(login($tcp), 'SELECT 1')) });
    check('wrong-password', sub {
        refused(1045, '28000', sub { login($tcp, 0, $user, "not it") });
        refused(1045, '28000', sub { login($tcp, 0, $user, '') });
        refused(1045, '28000', sub { login($tcp, 0, 'nobody') });
    });
}

my $db = login($tcp);
my $prepared = login($tcp, 1);
check('create-table', sub {
    $db->do('DROP TABLE IF EXISTS q4m_test');
    $db->do(<<'SQL');
CREATE TABLE `q4m_test` (
  `id` varchar(255) COLLATE utf8mb4_bin NOT NULL,
  `payload` text COLLATE utf8mb4_bin NOT NULL,
  `enqueued_at` int(10) unsigned NOT NULL
) ENGINE=QUEUE;
SQL
});
check('show-table', sub {
    want([['q4m_test']], rows($db, "SHOW TABLES LIKE 'q4m_test'"));
    die 'SHOW CREATE TABLE names another engine' unless rows($db, 'SHOW CREATE TABLE q4m_test')->[0][1] =~ /ENGINE=QUEUE/;
    my $columns = $db->column_info(undef, $database, 'q4m_test', '%')->fetchall_arrayref({});
    want([qw(id payload enqueued_at)], [ map { $_->{COLUMN_NAME} } @$columns ]);
    want(1, scalar grep { /q4m_test/ } $db->tables(undef, $database, '%', 'TABLE'));
});
check('insert-text', sub { want(1, $db->do("INSERT INTO q4m_test VALUES ('a', 'first', 10)")) });
check('insert-prepared', sub {
    my $statement = $prepared->prepare('INSERT INTO q4m_test VALUES (?, ?, ?)');
    want(1, $statement->execute('b', $text, 20));
    want(1, $statement->execute('c', $text, 21));
});
check('insert-multi-row', sub {
    want(3, $db->do("INSERT INTO q4m_test (enqueued_at, id, payload) VALUES (30, 'd', ''), (31, 'e', 'x'), (32, 'f', 'y')"));
});
check('insert-refused', sub {
    refused(1048, '23000', sub { $db->do("INSERT INTO q4m_test VALUES ('g', 'z', 40), (NULL, 'z', 41)") });
    want(6, value($db, 'SELECT COUNT(*) FROM q4m_test'));
});
check('select-unowned', sub {
    want([ ['a', 'first', 10], ['b', $text, 20], ['c', $text, 21], ['d', '', 30], ['e', 'x', 31], ['f', 'y', 32] ],
        rows($db, 'SELECT * FROM q4m_test'));
    want([ ['f'], ['e'] ], rows($db, 'SELECT id FROM q4m_test WHERE enqueued_at > ? ORDER BY enqueued_at DESC', 30));
});
check('error-codes', sub {
    refused(1146, '42S02', sub { rows($db, 'SELECT * FROM no_such_table') });
    refused(1146, '42S02', sub { rows($prepared, 'SELECT * FROM no_such_table') });
    refused(1064, '42000', sub { $db->do('SELEKT 1') });
    refused(1050, '42S01', sub { $db->do('CREATE TABLE q4m_test (id int) ENGINE=QUEUE') });
});
check('abort-outside-owner-mode', sub {
    refused(1210, 'HY000', sub { value($db, 'SELECT queue_abort()') });
    want(1, value($db, 'SELECT 1'));
});

check('wait', sub { want(1, value($db, "SELECT queue_wait('q4m_test')")) });
check('own-row-text', sub { want([ ['a', 'first', 10] ], rows($db, 'select * from q4m_test')) });
check('rowid', sub { want(1, value($db, 'SELECT queue_rowid()')) });
check('abort', sub {
    want(1, value($db, 'SELECT queue_abort()'));
    want(1, value($db, "SELECT queue_wait('q4m_test', 0)"));
    want(1, value($db, 'SELECT queue_rowid()'));
});
check('end', sub {
    want(1, value($db, 'select queue_end()'));
    want(5, value($db, 'SELECT COUNT(*) FROM q4m_test'));
});
check('wait-condition', sub {
    want(1, value($db, "SELECT queue_wait('q4m_test:enqueued_at>=31', 5)"));
    want([ ['e', 'x', 31] ], rows($db, 'SELECT * FROM q4m_test'));
    want(2, value($db, "SELECT queue_wait('q4m_test:enqueued_at>99', 'q4m_test:enqueued_at<31', 5)"));
    want([ ['b', $text, 20] ], rows($db, 'SELECT * FROM q4m_test'));
    want(1, value($db, 'SELECT queue_end()'));
});
check('wait-prepared', sub {
    want(1, value($prepared, 'SELECT queue_wait(?, ?)', 'q4m_test:enqueued_at=32', 5));
});
check('own-row-prepared', sub {
    want([ ['f', 'y', 32] ], rows($prepared, 'SELECT * FROM q4m_test'));
    want(1, value($prepared, 'SELECT queue_end()'));
});
check('time-out', sub {
    want(0, value($db, "SELECT queue_wait('q4m_test:enqueued_at>99', 1)"));
    want([], rows($db, 'SELECT * FROM q4m_test'));
    want(undef, value($db, 'SELECT queue_rowid()'));
    want(1, value($db, 'SELECT queue_end()'));
});
check('bad-condition', sub {
    want(undef, value($db, "SELECT queue_wait('q4m_test:enqueued_at>>', 1)"));
    my ($level, $number, $message) = @{ rows($db, 'SHOW WARNINGS')->[0] };
    want([ 'Warning', 1210 ], [ $level, $number ]);
    die "the warning names no position: $message" unless $message =~ /character/;
    want(undef, value($db, "SELECT queue_wait('no_such_table', 0)"));
});
check('wake-up', sub {
    pipe(my $from, my $to) or die $!;
    my $child = fork // die $!;
    if (!$child) {    # waits, says what it got and goes without touching the parent's connections
        alarm 2 * $patience;
        $_->{InactiveDestroy} = 1 for $db, $prepared;
        syswrite $to, eval { value(login($tcp), "SELECT queue_wait('q4m_test:enqueued_at=77', $patience)") } // $@;
        require POSIX;
        POSIX::_exit(0);
    }
    close $to;
    $db->do("INSERT INTO q4m_test VALUES ('w', 'wake', 77)");
    my $got = readline $from;
    waitpid $child, 0;
    want(1, $got);
});
check('disconnect', sub {
    my $other = login($unix);
    want(1, value($other, "SELECT queue_wait('q4m_test:enqueued_at=30', 0)"));
    want(0, value($db, "SELECT queue_wait('q4m_test:enqueued_at=30', 0)"));
    $other->disconnect;
    want(1, value($db, "SELECT queue_wait('q4m_test:enqueued_at=30', $patience)"));
    want(1, value($db, 'SELECT queue_end()'));
});

my @kinds = (
    '-128', '-2147483648', '18446744073709551615', '-1234567890123456.7890', '1.5', '0.1',
    '2026-11-22 03:04:05.678901', '2026-11-22', $text, $bytes, undef,
);
check('types-insert-text', sub {
    $db->do('DROP TABLE IF EXISTS kinds');
    $db->do(<<'SQL');
CREATE TABLE kinds (
  t tinyint NOT NULL, i int, u bigint unsigned, d decimal(20,4), f float, g double,
  at datetime(6), day date, s varchar(255) CHARACTER SET utf8mb4, b blob, n int
) ENGINE=QUEUE
SQL
    want(1, $db->do('INSERT INTO kinds VALUES (' . join(', ', map { defined $_ ? $db->quote($_) : 'NULL' } @kinds[ 0 .. 8 ])
          . ", x'" . unpack('H*', $bytes) . "', NULL)"));
});
check('types-insert-prepared', sub {
    my $statement = $prepared->prepare('INSERT INTO kinds VALUES (' . join(', ', ('?') x @kinds) . ')');
    $statement->bind_param($_ + 1, $kinds[$_], $_ == 9 ? SQL_BLOB : SQL_VARCHAR) for 0 .. $#kinds;
    want(1, $statement->execute);
});
check('types-read-text', sub { want([ \@kinds, \@kinds ], rows($db, 'SELECT * FROM kinds')) });
check('types-read-prepared', sub { want([ \@kinds, \@kinds ], rows($prepared, 'SELECT * FROM kinds')) });
check('types-own-row', sub {
    for my $connection ($db, $prepared) {
        want(1, value($connection, "SELECT queue_wait('kinds', 0)"));
        want([ \@kinds ], rows($connection, 'SELECT * FROM kinds'));
        want(1, value($connection, 'SELECT queue_end()'));
    }
});
check('long-row', sub {
    my $long = $text x 100_000;    # 2.5 MB
    $db->do('DROP TABLE IF EXISTS letters');
    $db->do('CREATE TABLE letters (id int, payload longtext) ENGINE=QUEUE');
    $prepared->prepare('INSERT INTO letters VALUES (?, ?)')->execute(1, $long);
    $db->do('INSERT INTO letters VALUES (2, ' . $db->quote($long) . ')');
    $_->{LongReadLen} = length($long) * 4 for $db, $prepared;
    want(1, value($db, "SELECT queue_wait('letters', 0)"));
    die 'text: another payload came back' unless value($db, 'SELECT payload FROM letters') eq $long;
    want(1, value($prepared, "SELECT queue_wait('letters', 0)"));
    die 'prepared: another payload came back' unless value($prepared, 'SELECT payload FROM letters') eq $long;
    want(1, value($_, 'SELECT queue_end()')) for $db, $prepared;
});

check('set-names', sub {
    $db->do('SET NAMES utf8mb4');
    want([ [ $text, 'utf8mb4' ] ], rows($db, 'SELECT ' . $db->quote($text) . ', @@character_set_client'));
});
check('transactions', sub {
    my $before = value($db, 'SELECT COUNT(*) FROM q4m_test');
    $db->{AutoCommit} = 0;
    $db->do("INSERT INTO q4m_test VALUES ('t', 'kept', 60)");
    $db->commit;
    $db->do("INSERT INTO q4m_test VALUES ('u', 'kept', 61)");
    $db->rollback;
    $db->{AutoCommit} = 1;
    $db->begin_work;
    $db->do("INSERT INTO q4m_test VALUES ('v', 'kept', 62)");
    $db->commit;
    want($before + 3, value($db, 'SELECT COUNT(*) FROM q4m_test'));
});
check('drop-table', sub {
    $db->do('DROP TABLE q4m_test');
    $db->do('DROP TABLE kinds, letters');
    refused(1146, '42S02', sub { rows($db, 'SELECT * FROM q4m_test') });
});
$_->disconnect for $db, $prepared;
exit $failed;
