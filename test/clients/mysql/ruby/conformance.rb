# Speaks to a running hikyaku with Ruby's mysql2 and prints a line a check: "ok NAME" or "not ok NAME: why".
# The checks and the variables that say where the server is: ../README.md.
require 'bigdecimal'
require 'date'
require 'mysql2'
require 'timeout'

USER = ENV.fetch('CLIENT_USER')
PASSWORD = ENV.fetch('CLIENT_PASSWORD')
DATABASE = ENV.fetch('CLIENT_DATABASE')
CA = ENV.fetch('CLIENT_CA')
PATIENCE = 60 # seconds that only a broken server needs
TEXT = 'こんにちは 🚚 é'
BYTES = (0..255).to_a.pack('C*')

def server = { host: ENV.fetch('CLIENT_HOST'), port: Integer(ENV.fetch('CLIENT_PORT')) }
def socket = { socket: ENV.fetch('CLIENT_SOCKET') }

def connect(**options)
  options = server.merge(options) unless options.key?(:socket)
  Mysql2::Client.new(
    username: USER, password: PASSWORD, database: DATABASE, encoding: 'utf8mb4', read_timeout: PATIENCE, connect_timeout: PATIENCE,
    database_timezone: :utc, application_timezone: :utc, **options
  )
end

$failed = false

def check(name)
  Timeout.timeout(2 * PATIENCE) { yield }
  puts "ok #{name}"
rescue StandardError => e
  $failed = true
  puts "not ok #{name}: #{e.message.tr("\n", ' ')} (#{e.class}, #{e.backtrace.first})"
ensure
  $stdout.flush
end

def want(expected, got)
  raise "got #{got.inspect}, wanted #{expected.inspect}" unless got == expected
end

# refused demands that MySQL's error of that number and SQLSTATE is raised.
def refused(number, state)
  yield
rescue Mysql2::Error => e
  want([number, state], [e.error_number, e.sql_state])
else
  raise "nothing was raised, wanted error #{number} (#{state})"
end

def value(client, sql) = client.query(sql, as: :array).first.first
def rows(client, sql) = client.query(sql, as: :array).to_a
def prepared(client, sql, *args) = client.prepare(sql).execute(*args, as: :array).to_a

check('connect-tcp') { want(1, value(connect, 'SELECT 1')) }
check('connect-socket') { want(1, value(connect(**socket), 'SELECT 1')) }
check('ping') { want(true, connect.ping) }
unless CA.empty?
  check('connect-tls') do
    client = connect(sslca: CA, sslverify: true)
    raise 'the connection is not encrypted' unless client.ssl_cipher
    want(1, value(client, 'SELECT 1'))
  end
end
unless PASSWORD.empty?
  check('connect-native') { want(1, value(connect(default_auth: 'mysql_native_password'), 'SELECT 1')) }
  check('connect-sha2') { want(1, value(connect(default_auth: 'caching_sha2_password'), 'SELECT 1')) }
  check('wrong-password') do
    refused(1045, '28000') { connect(password: "#{PASSWORD}x") }
    refused(1045, '28000') { connect(password: '') }
    refused(1045, '28000') { connect(username: 'nobody') }
  end
end

client = connect
check('create-table') do
  client.query('DROP TABLE IF EXISTS q4m_test')
  client.query(<<~SQL)
    CREATE TABLE `q4m_test` (
      `id` varchar(255) COLLATE utf8mb4_bin NOT NULL,
      `payload` text COLLATE utf8mb4_bin NOT NULL,
      `enqueued_at` int(10) unsigned NOT NULL
    ) ENGINE=QUEUE;
  SQL
end
check('show-table') do
  want(['q4m_test'], rows(client, "SHOW TABLES LIKE 'q4m_test'").flatten)
  raise 'SHOW CREATE TABLE names another engine' unless rows(client, 'SHOW CREATE TABLE q4m_test')[0][1].include?('ENGINE=QUEUE')
  want(%w[id payload enqueued_at], client.query('SELECT * FROM q4m_test').fields)
end
check('insert-text') do
  client.query("INSERT INTO q4m_test VALUES ('a', 'first', 10)")
  want(1, client.affected_rows)
end
check('insert-prepared') do
  statement = client.prepare('INSERT INTO q4m_test VALUES (?, ?, ?)')
  %w[b c].each_with_index do |id, i|
    statement.execute(id, TEXT, 20 + i)
    want(1, statement.affected_rows)
  end
end
check('insert-multi-row') do
  client.query("INSERT INTO q4m_test (enqueued_at, id, payload) VALUES (30, 'd', ''), (31, 'e', 'x'), (32, 'f', 'y')")
  want(3, client.affected_rows)
end
check('insert-refused') do
  refused(1048, '23000') { client.query("INSERT INTO q4m_test VALUES ('g', 'z', 40), (NULL, 'z', 41)") }
  want(6, value(client, 'SELECT COUNT(*) FROM q4m_test'))
end
check('select-unowned') do
  want([['a', 'first', 10], ['b', TEXT, 20], ['c', TEXT, 21], ['d', '', 30], ['e', 'x', 31], ['f', 'y', 32]], rows(client, 'SELECT * FROM q4m_test'))
  want([['f'], ['e']], rows(client, 'SELECT id FROM q4m_test WHERE enqueued_at > 30 ORDER BY enqueued_at DESC'))
end
check('error-codes') do
  refused(1146, '42S02') { client.query('SELECT * FROM no_such_table') }
  refused(1146, '42S02') { client.prepare('INSERT INTO no_such_table VALUES (?)').execute(1) }
  refused(1064, '42000') { client.query('SELEKT 1') }
end
check('abort-outside-owner-mode') do
  refused(1210, 'HY000') { client.query('SELECT queue_abort()') }
  want(1, value(client, 'SELECT 1'))
end

check('wait') { want(1, value(client, "SELECT queue_wait('q4m_test')")) }
check('own-row-text') { want([['a', 'first', 10]], rows(client, 'select * from q4m_test')) }
check('own-row-prepared') { want([['a', 'first', 10]], prepared(client, 'select * from q4m_test')) }
check('rowid') { want(1, value(client, 'SELECT queue_rowid()')) }
check('abort') do
  want(1, value(client, 'SELECT queue_abort()'))
  want([1], rows(client, "SELECT queue_wait('q4m_test', 0)").flatten)
  want(1, value(client, 'SELECT queue_rowid()'))
end
check('end') do
  want(1, value(client, 'select queue_end()'))
  want(5, value(client, 'SELECT COUNT(*) FROM q4m_test'))
end
check('wait-condition') do
  want(1, value(client, "SELECT queue_wait('q4m_test:enqueued_at>=31', 5)"))
  want([['e', 'x', 31]], rows(client, 'SELECT * FROM q4m_test'))
  want(2, value(client, "SELECT queue_wait('q4m_test:enqueued_at>99', 'q4m_test:enqueued_at<31', 5)"))
  want([['b', TEXT, 20]], rows(client, 'SELECT * FROM q4m_test'))
  want(1, value(client, 'SELECT queue_end()'))
end
check('wait-prepared') do
  want([[1]], prepared(client, 'SELECT queue_wait(?, ?)', 'q4m_test:enqueued_at=32', 5))
  want([['f', 'y', 32]], prepared(client, 'SELECT * FROM q4m_test'))
  want([[1]], prepared(client, 'SELECT queue_end()'))
end
check('time-out') do
  want(0, value(client, "SELECT queue_wait('q4m_test:enqueued_at>99', 1)"))
  want([], rows(client, 'SELECT * FROM q4m_test'))
  want([], prepared(client, 'SELECT * FROM q4m_test'))
  want(nil, value(client, 'SELECT queue_rowid()'))
  want(1, value(client, 'SELECT queue_end()'))
end
check('bad-condition') do
  want(nil, value(client, "SELECT queue_wait('q4m_test:enqueued_at>>', 1)"))
  level, number, message = rows(client, 'SHOW WARNINGS').first
  want(['Warning', 1210], [level, number])
  raise "the warning names no position: #{message}" unless message.include?('character')
  want(nil, value(client, "SELECT queue_wait('no_such_table', 0)"))
end
check('wake-up') do
  waiter = Thread.new { value(connect, "SELECT queue_wait('q4m_test:enqueued_at=77', #{PATIENCE})") }
  client.query("INSERT INTO q4m_test VALUES ('w', 'wake', 77)")
  want(1, waiter.value)
end
check('disconnect') do
  other = connect(**socket)
  want(1, value(other, "SELECT queue_wait('q4m_test:enqueued_at=30', 0)"))
  want(0, value(client, "SELECT queue_wait('q4m_test:enqueued_at=30', 0)"))
  other.close
  want(1, value(client, "SELECT queue_wait('q4m_test:enqueued_at=30', #{PATIENCE})"))
  want(1, value(client, 'SELECT queue_end()'))
end

KINDS = [
  -128, -2_147_483_648, 18_446_744_073_709_551_615, BigDecimal('-1234567890123456.7890'), 1.5, 0.1,
  Time.utc(2026, 11, 22, 3, 4, 5, 678_901), Date.new(2026, 11, 22), TEXT, BYTES, nil
].freeze
check('types-insert-text') do
  client.query('DROP TABLE IF EXISTS kinds')
  client.query(<<~SQL)
    CREATE TABLE kinds (
      t tinyint NOT NULL, i int, u bigint unsigned, d decimal(20,4), f float, g double,
      at datetime(6), day date, s varchar(255) CHARACTER SET utf8mb4, b blob, n int
    ) ENGINE=QUEUE
  SQL
  client.query("INSERT INTO kinds VALUES (-128, -2147483648, 18446744073709551615, -1234567890123456.7890, 1.5, 0.1, " \
               "'2026-11-22 03:04:05.678901', '2026-11-22', '#{client.escape(TEXT)}', x'#{BYTES.unpack1('H*')}', NULL)")
  want(1, client.affected_rows)
  client.query("INSERT INTO kinds (t, b) VALUES (0, _binary'#{client.escape(BYTES)}')")
  want(BYTES, rows(client, 'SELECT b FROM kinds WHERE t = 0')[0][0])
  client.query('DELETE FROM kinds WHERE t = 0')
  want(1, client.affected_rows)
end
check('types-insert-prepared') do
  client.prepare("INSERT INTO kinds VALUES (#{(['?'] * 11).join(', ')})").execute(*KINDS)
end
check('types-read-text') { want([KINDS, KINDS], rows(client, 'SELECT * FROM kinds')) }
check('types-read-prepared') { want([KINDS, KINDS], prepared(client, 'SELECT * FROM kinds')) }
check('types-own-row') do
  want(1, value(client, "SELECT queue_wait('kinds', 0)"))
  want([KINDS], rows(client, 'SELECT * FROM kinds'))
  want([KINDS], prepared(client, 'SELECT * FROM kinds'))
  want(1, value(client, 'SELECT queue_end()'))
end
check('long-row') do
  long = TEXT * 100_000 # 2.5 MB
  client.query('DROP TABLE IF EXISTS letters')
  client.query('CREATE TABLE letters (id int, payload longtext) ENGINE=QUEUE')
  client.prepare('INSERT INTO letters VALUES (?, ?)').execute(1, long)
  client.query("INSERT INTO letters VALUES (2, '#{long}')")
  want(1, value(client, "SELECT queue_wait('letters:id=2', 0)"))
  raise 'text: another payload came back' unless rows(client, 'SELECT payload FROM letters') == [[long]]
  want(1, value(client, "SELECT queue_wait('letters:id=1', 0)"))
  raise 'prepared: another payload came back' unless prepared(client, 'SELECT payload FROM letters') == [[long]]
  want(1, value(client, 'SELECT queue_end()'))
end

check('set-names') do
  client.query('SET NAMES utf8mb4')
  client.set_server_option(Mysql2::Client::OPTION_MULTI_STATEMENTS_OFF)
  want([TEXT, 'utf8mb4'], rows(client, "SELECT '#{TEXT}', @@character_set_client").first)
end
check('transactions') do
  before = value(client, 'SELECT COUNT(*) FROM q4m_test')
  client.query('SET autocommit=0')
  client.query('START TRANSACTION')
  client.query("INSERT INTO q4m_test VALUES ('t', 'kept', 60)")
  client.query('COMMIT')
  client.query('BEGIN')
  client.query("INSERT INTO q4m_test VALUES ('u', 'kept', 61)")
  client.query('ROLLBACK')
  want(1196, rows(client, 'SHOW WARNINGS')[0][1])
  client.query('SET autocommit=1')
  want(before + 2, value(client, 'SELECT COUNT(*) FROM q4m_test'))
end
check('drop-table') do
  client.query('DROP TABLE q4m_test')
  client.query('DROP TABLE kinds, letters')
  refused(1146, '42S02') { client.query('SELECT * FROM q4m_test') }
end
exit($failed ? 1 : 0)
