<?php
// Speaks to a running hikyaku with PHP's own drivers, PDO and mysqli, and prints a line a check: "ok NAME" or "not ok NAME: why".
// The checks and the variables that say where the server is: ../README.md. The argument is the driver.
declare(strict_types=1);

const TEXT = 'こんにちは 🚚 é';

// A connection as both drivers have it.
interface Driver
{
    public function rows(string $sql, array $values = []): array;
    public function change(string $sql, array $values = []): int;
    public function begin(): void;
    public function commit(): void;
    public function rollback(): void;
    public function quote(string $text): string;
    public function inTransaction(): bool;
}

final class ByPdo implements Driver
{
    public PDO $c;

    public function __construct(array $more = [], ?string $user = null, ?string $password = null)
    {
        [$host, $port, $database] = [getenv('CLIENT_HOST'), getenv('CLIENT_PORT'), getenv('CLIENT_DATABASE')];
        $where = isset($more['socket']) ? 'unix_socket=' . $more['socket'] : "host=$host;port=$port";
        $options = [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_EMULATE_PREPARES => false, PDO::ATTR_PERSISTENT => isset($more['persistent'])];
        if (isset($more['ca'])) {
            $options += [PDO::MYSQL_ATTR_SSL_CA => $more['ca'], PDO::MYSQL_ATTR_SSL_VERIFY_SERVER_CERT => true];
        }
        if (isset($more['compress'])) {
            $options += [PDO::MYSQL_ATTR_COMPRESS => true];
        }
        $this->c = new PDO("mysql:$where;dbname=$database;charset=" . ($more['charset'] ?? 'utf8mb4'), $user ?? getenv('CLIENT_USER'), $password ?? getenv('CLIENT_PASSWORD'), $options);
    }

    public function rows(string $sql, array $values = []): array
    {
        $s = $values ? $this->c->prepare($sql) : $this->c->query($sql);
        if ($values) {
            $s->execute($values);
        }
        return $s->fetchAll(PDO::FETCH_NUM);
    }

    public function change(string $sql, array $values = []): int
    {
        if (!$values) {
            return $this->c->exec($sql);
        }
        $s = $this->c->prepare($sql);
        $s->execute($values);
        return $s->rowCount();
    }

    public function begin(): void { $this->c->beginTransaction(); }
    public function commit(): void { $this->c->commit(); }
    public function rollback(): void { $this->c->rollBack(); }
    public function inTransaction(): bool { return $this->c->inTransaction(); }
    public function quote(string $text): string { return $this->c->quote($text); }
}

final class ByMysqli implements Driver
{
    public mysqli $c;

    public function __construct(array $more = [], ?string $user = null, ?string $password = null)
    {
        mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);
        $this->c = mysqli_init();
        $flags = isset($more['compress']) ? MYSQLI_CLIENT_COMPRESS : 0;
        if (isset($more['ca'])) {
            $this->c->options(MYSQLI_OPT_SSL_VERIFY_SERVER_CERT, true);
            $this->c->ssl_set(null, null, $more['ca'], null, null);
            $flags |= MYSQLI_CLIENT_SSL;
        }
        $socket = $more['socket'] ?? null;
        $this->c->real_connect((isset($more['persistent']) ? 'p:' : '') . ($socket ? 'localhost' : getenv('CLIENT_HOST')), $user ?? getenv('CLIENT_USER'), $password ?? getenv('CLIENT_PASSWORD'),
            getenv('CLIENT_DATABASE'), (int)getenv('CLIENT_PORT'), $socket, $flags);
        $this->c->set_charset($more['charset'] ?? 'utf8mb4');
    }

    private function prepared(string $sql, array $values): mysqli_stmt
    {
        $s = $this->c->prepare($sql);
        $s->execute($values);
        return $s;
    }

    public function rows(string $sql, array $values = []): array
    {
        return ($values ? $this->prepared($sql, $values)->get_result() : $this->c->query($sql))->fetch_all(MYSQLI_NUM);
    }

    public function change(string $sql, array $values = []): int
    {
        if ($values) {
            return $this->prepared($sql, $values)->affected_rows;
        }
        $this->c->query($sql);
        return $this->c->affected_rows;
    }

    public function begin(): void { $this->c->begin_transaction(); }
    public function commit(): void { $this->c->commit(); }
    public function rollback(): void { $this->c->rollback(); }
    public function inTransaction(): bool { return true; } // it does not tell
    public function quote(string $text): string { return "'" . $this->c->real_escape_string($text) . "'"; }
}

$failed = false;
function check(string $name, callable $body): void
{
    global $failed;
    try {
        $body();
        echo "ok $name\n";
    } catch (Throwable $e) {
        $failed = true;
        echo "not ok $name: ", substr(preg_replace('/\s+/', ' ', (string)$e), 0, 500), "\n";
    }
}

function want(mixed $expected, mixed $got): void
{
    if ($expected !== $got) {
        throw new Exception('got ' . json_encode($got) . ', wanted ' . json_encode($expected));
    }
}

function refused(int $number, callable $body): void
{
    try {
        $body();
    } catch (PDOException $e) {
        want($number, $e->errorInfo[1]);
        return;
    } catch (mysqli_sql_exception $e) {
        want($number, $e->getCode());
        return;
    }
    throw new Exception("nothing was raised, wanted error $number");
}

// held demands that an error's text is no longer than mysqlnd reads of one, and holds little of what did not fit.
function held(int $number, callable $body): void
{
    refused($number, function () use ($body) {
        try {
            $body();
        } catch (PDOException | mysqli_sql_exception $e) {
            if (strlen($e->getMessage()) > 512 || substr_count($e->getMessage(), '飛脚') * strlen('飛脚') > 128) {
                throw new Exception('its text has ' . strlen($e->getMessage()) . ' bytes: ' . substr($e->getMessage(), 0, 300));
            }
            throw $e;
        }
    });
}

function connections(callable $open): void
{
    check('connect-tcp', fn() => want([[1]], ints($open()->rows('SELECT 1'))));
    check('connect-socket', fn() => want([[1]], ints($open(['socket' => getenv('CLIENT_SOCKET')])->rows('SELECT 1'))));
    if (getenv('CLIENT_CA')) {
        check('connect-tls', function () use ($open) {
            $got = $open(['ca' => getenv('CLIENT_CA')])->rows("SHOW STATUS LIKE 'Ssl_cipher'");
            if ($got[0][1] === '') {
                throw new Exception('it is not encrypted');
            }
        });
    }
    if (getenv('CLIENT_PASSWORD')) {
        check('wrong-password', fn() => refused(1045, fn() => $open([], null, 'not it')));
    }
}

// ints makes numbers of what the text protocol of an older driver gives as texts.
function ints(array $rows): array { return array_map(fn($row) => array_map(fn($v) => is_numeric($v) ? (int)$v : $v, $row), $rows); }

function work(Driver $d, callable $open): void
{
    $count = fn() => ints($d->rows('SELECT COUNT(*) FROM php_test'))[0][0];
    check('create-table', function () use ($d) {
        $d->change('DROP TABLE IF EXISTS php_test');
        $d->change('CREATE TABLE php_test (id varchar(255) NOT NULL, payload longtext NOT NULL, enqueued_at int unsigned NOT NULL) ENGINE=QUEUE');
    });
    check('insert-text', fn() => want(1, $d->change("INSERT INTO php_test VALUES ('a', '" . TEXT . "', 10)")));
    check('insert-prepared', fn() => want(1, $d->change('INSERT INTO php_test VALUES (?, ?, ?)', ['b', TEXT, 20])));
    check('transactions', function () use ($d, $count) {
        $d->begin();
        want(1, $d->change("INSERT INTO php_test VALUES ('c', 'x', 30)"));
        want(1, $d->change('INSERT INTO php_test VALUES (?, ?, ?)', ['d', 'y', 40]));
        want(true, $d->inTransaction());
        $d->commit(); // one that throws makes programs put the rows in again
        want(4, $count());
        $d->begin();
        $d->rollback();
        want(4, $count());
    });
    check('wait', fn() => want([[1]], ints($d->rows("SELECT queue_wait('php_test', 5)"))));
    check('own-row', fn() => want([['a', TEXT, 10]], ints($d->rows('SELECT * FROM php_test'))));
    check('wait-parameters', fn() => want([[1]], ints($d->rows('SELECT queue_wait(?, ?)', ['php_test:enqueued_at>=20', 5]))));
    check('end', function () use ($d, $count) {
        want([[1]], ints($d->rows('SELECT queue_end()')));
        want(2, $count());
    });
    check('character-sets', function () use ($d, $open) {
        $d->change('DROP TABLE IF EXISTS php_texts');
        $d->change('CREATE TABLE php_texts (t text, b blob) ENGINE=QUEUE');
        // Some of their letters have a backslash as their second byte.
        foreach (['sjis' => "\x83\x5c\x95\x5c", 'cp932' => "\x95\x5c\x87\x40", 'ujis' => "\xa5\xbd\xc9\xbd", 'gbk' => "\xc4\xe3\x81\x5c", 'big5' => "\xa5\x5c",
            'euckr' => "\xbe\xc8", 'cp1251' => "\xcf\xf0", 'latin1' => "\xe9\x80"] as $set => $bytes) {
            $c = $open(['charset' => $set]);
            $c->change('INSERT INTO php_texts VALUES (' . $c->quote($bytes) . ', ' . $c->quote($bytes) . ')');
            $c->change('INSERT INTO php_texts VALUES (?, ?)', [$bytes, $bytes]);
            want([[bin2hex($bytes), bin2hex($bytes)], [bin2hex($bytes), bin2hex($bytes)]], array_map(fn($row) => array_map('bin2hex', $row), $c->rows('SELECT t, b FROM php_texts')));
            $c->change('DELETE FROM php_texts');
        }
        $c = $open(['charset' => 'sjis']);
        $c->change("INSERT INTO php_texts (t) VALUES ('\x83\x5c\x95\x5c')");
        want([['ソ表']], $d->rows('SELECT t FROM php_texts'));
    });
    check('compression', function () use ($open) {
        $c = $open(['compress' => true]);
        $long = str_repeat(TEXT, 100000);
        want([[$long]], $c->rows('SELECT ' . $c->quote($long) . ' AS t'));
        want([[TEXT]], $c->rows('SELECT ? AS t', [TEXT]));
    });
    check('error-codes', function () use ($d) {
        refused(1146, fn() => $d->rows('SELECT * FROM no_such_table'));
        refused(1064, fn() => $d->rows('SELEKT 1'));
    });
    // Both drivers give the connection of a page to the next one. mysqli begins its session anew; PDO ends its transaction.
    check('persistent', function () use ($d, $open) {
        $d->change('DELETE FROM php_test');
        $d->change("INSERT INTO php_test VALUES ('p', 'x', 10)");
        $settings = "SELECT CONNECTION_ID(), @kept, @@time_zone = @@global.time_zone, @@autocommit, @@sql_mode = @@global.sql_mode";
        $c = $open(['persistent' => true]);
        $id = ints($c->rows('SELECT CONNECTION_ID()'))[0][0];
        want([[1]], ints($c->rows("SELECT queue_wait('php_test', 5)")));
        $c->change('SET @kept = 7');
        $anew = $c instanceof ByMysqli;
        if ($anew) {
            $c->change("SET time_zone = '+05:00', sql_mode = '', autocommit = 0");
        }
        $c->begin();
        $c->change("INSERT INTO php_test VALUES ('q', 'y', 20)");
        unset($c);
        $c = $open(['persistent' => true]);
        want([[$id, $anew ? null : 7, 1, 1, 1]], ints($c->rows($settings)));
        want($anew ? 2 : 1, ints($c->rows('SELECT COUNT(*) FROM php_test'))[0][0]); // it still owns its row, or sees what nobody owns
        if (!$anew) {
            want(false, $c->inTransaction());
            want([[1]], ints($c->rows('SELECT queue_abort()')));
        }
        want(2, ints($d->rows('SELECT COUNT(*) FROM php_test'))[0][0]);
    });
    // One that takes several packets of the protocol ends the connection, behind an error that says why.
    check('large-packet', function () use ($d, $open) {
        $c = $open();
        $most = ints($c->rows('SELECT @@max_allowed_packet'))[0][0];
        refused(1153, fn() => $c->rows('SELECT LENGTH(' . $c->quote(str_repeat('x', $most + 1)) . ')'));
        want([[7]], ints($open()->rows('SELECT 7')));
    });
    // mysqlnd reads 512 bytes of an error's text, and a program's log should hold little of a payload.
    check('long-values', function () use ($d) {
        $d->change('DROP TABLE IF EXISTS php_narrow');
        $d->change('CREATE TABLE php_narrow (s varchar(10), n int, d datetime) ENGINE=QUEUE');
        foreach (['飛脚', "飛脚 'x' ", '飛脚"🚚'] as $part) {
            $long = str_repeat($part, intdiv(70_000, strlen($part)));
            foreach (['s' => 1406, 'n' => 1366, 'd' => 1292] as $column => $number) {
                held($number, fn() => $d->change("INSERT INTO php_narrow ($column) VALUES (" . $d->quote($long) . ')'));
                held($number, fn() => $d->change("INSERT INTO php_narrow ($column) VALUES (?)", [$long]));
                want([[7]], ints($d->rows('SELECT 7')));
            }
        }
        $digits = str_repeat('9', 300);
        held(1264, fn() => $d->change("INSERT INTO php_narrow (n) VALUES ('$digits')"));
        held(1264, fn() => $d->change('INSERT INTO php_narrow (n) VALUES (?)', [$digits]));
        want([[0]], ints($d->rows('SELECT COUNT(*) FROM php_narrow')));
        $d->change('DROP TABLE php_narrow');
    });
}

$class = $argv[1] === 'pdo' ? ByPdo::class : ByMysqli::class;
$open = fn(array $more = [], ?string $user = null, ?string $password = null) => new $class($more, $user, $password);
connections($open);
work($open(), $open);
exit($failed ? 1 : 0);
