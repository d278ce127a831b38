<?php
// Uses Adminer in front of a running hikyaku as somebody with a browser does, and prints a line a check: "ok NAME" or "not ok NAME: why".
// The checks and the variables that say where the server is: ../README.md.
declare(strict_types=1);

const ADMINER = '/usr/share/adminer/adminer';
const TEXT = 'こんにちは 🚚 é';

// Browser keeps cookies and the token of the page that it has last seen.
final class Browser
{
    public string $page = '';
    private array $cookies = [];
    private string $token = '';

    public function __construct(private string $base) {}

    public function get(array $query): string { return $this->ask('?' . http_build_query($query), null); }

    public function post(array $query, array $fields): string
    {
        return $this->ask('?' . http_build_query($query), $fields + ['token' => $this->token]);
    }

    private function ask(string $path, ?array $fields): string
    {
        for ($hops = 0; $hops < 5; $hops++) {
            $cookies = implode('; ', array_map(fn($k, $v) => "$k=$v", array_keys($this->cookies), $this->cookies));
            $http = ['header' => ["Cookie: $cookies"], 'follow_location' => 0, 'ignore_errors' => true, 'timeout' => 60];
            if ($fields !== null) {
                $http = ['method' => 'POST', 'content' => http_build_query($fields)] + $http;
                $http['header'][] = 'Content-Type: application/x-www-form-urlencoded';
            }
            $page = file_get_contents($this->base . $path, false, stream_context_create(['http' => $http]));
            if ($page === false) {
                throw new Exception("no answer to $path");
            }
            $next = null;
            foreach ($http_response_header as $line) {
                if (preg_match('/^Set-Cookie: ([^=]+)=([^;]*)/i', $line, $m)) {
                    $this->cookies[$m[1]] = $m[2];
                } elseif (preg_match('/^Location: (.*)$/i', $line, $m)) {
                    $next = strstr($m[1], '?') ?: '';
                }
            }
            if (preg_match('/name=["\']token["\'] value=["\']([^"\']+)/', $page, $m)) {
                $this->token = $m[1];
            }
            if ($next === null) {
                return $this->page = $page;
            }
            [$path, $fields] = [$next, null];
        }
        throw new Exception('it is sent from page to page');
    }
}

$failed = false;
function check(string $name, callable $does): void
{
    global $failed;
    try {
        $does();
        echo "ok $name\n";
    } catch (Throwable $e) {
        $failed = true;
        echo "not ok $name: " . substr(preg_replace('/\s+/', ' ', $e->getMessage()), 0, 500) . "\n";
    }
}

// shown demands that a page has a text and no error.
function shown(string $page, string ...$texts): void
{
    if (preg_match('~class=.error.>(.*?)</p~s', $page, $m)) {
        throw new Exception(strip_tags($m[1]));
    }
    if (preg_match('~(Fatal error|Warning|Deprecated)</b>: .*~', $page, $m)) {
        throw new Exception(strip_tags($m[0]));
    }
    foreach ($texts as $text) {
        if (!str_contains(html_entity_decode(strip_tags(preg_replace('/<(input|textarea)[^>]*value=["\']([^"\']*)/', '\2<', $page))), $text)
            && !str_contains($page, $text)) {
            throw new Exception("the page has no $text: " . substr(strip_tags($page), 0, 300));
        }
    }
}

$free = stream_socket_server('tcp://127.0.0.1:0');
$address = stream_socket_get_name($free, false);
fclose($free);
$server = proc_open([PHP_BINARY, '-S', $address, '-t', ADMINER], [1 => ['file', '/dev/null', 'w'], 2 => ['file', '/dev/null', 'w']], $pipes);
for ($tries = 0; $tries < 300 && !@fsockopen('tcp://' . $address); $tries++) {
    usleep(100_000);
}

$where = getenv('CLIENT_HOST') . ':' . getenv('CLIENT_PORT');
$database = getenv('CLIENT_DATABASE');
// Adminer lets nobody in without a password; without users hikyaku takes any.
$login = ['auth[driver]' => 'server', 'auth[server]' => $where, 'auth[username]' => getenv('CLIENT_USER'), 'auth[password]' => getenv('CLIENT_PASSWORD') ?: 'any',
    'auth[db]' => $database];
$at = ['server' => $where, 'username' => getenv('CLIENT_USER')];
$in = $at + ['db' => $database];
$b = new Browser("http://$address/index.php");

function fields(array $flat): array
{
    parse_str(http_build_query($flat), $nested);
    return $nested;
}

check('connect-tcp', function () use ($b, $login, $database) {
    $b->get([]);
    shown($b->post([], fields($login)), "Database: $database");
});
if (getenv('CLIENT_PASSWORD') !== '') {
    check('wrong-password', function () use ($address, $login) {
        $stranger = new Browser("http://$address/index.php");
        $stranger->get([]);
        if (!str_contains($stranger->post([], fields(['auth[password]' => 'not it'] + $login)), 'Access denied')) {
            throw new Exception('it came in');
        }
    });
}
check('create-table', function () use ($b, $in) {
    $b->get($in + ['sql' => '']);
    shown($b->post($in + ['sql' => ''], ['query' => "CREATE TABLE shown (id int NOT NULL, text varchar(50), at datetime(3), kind enum('a','b')) ENGINE=QUEUE"]),
        'Query executed OK');
});
check('show-table', fn() => shown($b->get($in + ['table' => 'shown']), 'varchar(50)', "datetime(3)"));
check('insert-text', function () use ($b, $in) {
    shown($b->get($in + ['edit' => 'shown']), 'Insert');
    $values = ['fields[id]' => '7', 'fields[text]' => TEXT, 'fields[at]' => '2026-01-02 03:04:05.678', 'fields[kind]' => '1', 'insert' => '1'];
    shown($b->post($in + ['edit' => 'shown'], fields($values)), 'Item has been inserted');
});
check('select-unowned', function () use ($b, $in) {
    shown($b->get($in + ['select' => 'shown']), TEXT, '2026-01-02 03:04:05.678', '1 row');
    shown($b->get($in + ['select' => 'shown', 'where' => [['col' => 'text', 'op' => '=', 'val' => 'no']]]), 'No rows');
    shown($b->post($in + ['sql' => ''], ['query' => 'SELECT count(*) AS many, max(at) AS newest FROM shown']), 'many', '2026-01-02 03:04:05.678');
});
check('pages', function () use ($b, $at, $in) {
    foreach ([$at + ['variables' => ''], $at + ['status' => ''], $at + ['processlist' => ''], $at + ['privileges' => ''], $in, $in + ['schema' => ''],
        $in + ['create' => 'shown'], $in + ['indexes' => 'shown'], $in + ['create' => ''], $in + ['dump' => '']] as $query) {
        shown($b->get($query));
    }
});
check('dump', function () use ($b, $in) {
    $b->get($in + ['dump' => '']);
    $wanted = ['output' => 'text', 'format' => 'sql', 'table_style' => 'DROP+CREATE', 'data_style' => 'INSERT', 'tables' => ['shown'], 'data' => ['shown']];
    shown($b->post($in + ['dump' => ''], $wanted), 'ENGINE=QUEUE', 'INSERT INTO `shown`', TEXT);
});
check('error-codes', function () use ($b, $in) {
    $b->get($in + ['sql' => '']);
    if (!str_contains($page = $b->post($in + ['sql' => ''], ['query' => 'SELECT * FROM nowhere']), '1146')) {
        throw new Exception(strip_tags($page));
    }
});
check('drop-table', function () use ($b, $in) {
    $b->get($in + ['sql' => '']);
    shown($b->post($in + ['sql' => ''], ['query' => 'DROP TABLE shown']), 'Query executed OK');
});
proc_terminate($server);
proc_close($server);
exit($failed ? 1 : 0);
