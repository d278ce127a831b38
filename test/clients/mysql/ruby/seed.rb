# The three experiments of the article that timed Q4M's conditional subscription, with its statements, in a short form:
#
#   1. of ROWS rows of 1000 bytes (60; the article: 6000) the last sixth is taken with enqueued_at>=1501686146,
#   2. as many of the others with enqueued_at<1501686146,
#   3. ROWS times two thirds are inserted by a prepared statement.
#
# It prints a line a check as conformance.rb does, and what one operation took as lines that begin with #. At full length:
#
#   ROWS=6000 ruby seed.rb
#
# The variables that say where the server is: ../README.md.
require 'mysql2'
require 'benchmark'
require 'securerandom'

ROWS = Integer(ENV.fetch('ROWS', '60'))
NEW = 1_501_686_146 # the moment that divides old rows from new ones
PAYLOAD = 'a' * 1000

$failed = false

def check(name)
  yield
  puts "ok #{name}"
rescue StandardError => e
  $failed = true
  puts "not ok #{name}: #{e.message.tr("\n", ' ')} (#{e.class}, #{e.backtrace.first})"
end

def want(expected, got)
  raise "got #{got.inspect}, wanted #{expected.inspect}" unless got == expected
end

def value(result) = result.first.values.first

# timed runs the body so many times and says how long one run took.
def timed(times, about, &body)
  took = Array.new(times) { Benchmark.realtime(&body) }.sort
  puts format('# %s: median %.3f ms, slowest %.3f ms of %d', about, took[took.size / 2] * 1000, took.last * 1000, times)
end

# The article connects to "localhost", which is the Unix socket.
client = Mysql2::Client.new(
  socket: ENV.fetch('CLIENT_SOCKET'), username: ENV.fetch('CLIENT_USER'), password: ENV.fetch('CLIENT_PASSWORD'), database: ENV.fetch('CLIENT_DATABASE')
)

check('seed-rows') do
  client.query('DROP TABLE IF EXISTS q4m_test')
  client.query(<<~SQL)
    CREATE TABLE `q4m_test` (
      `id` varchar(255) COLLATE utf8mb4_bin NOT NULL,
      `payload` text COLLATE utf8mb4_bin NOT NULL,
      `enqueued_at` int(10) unsigned NOT NULL
    ) ENGINE=QUEUE;
  SQL
  stmt = client.prepare('INSERT INTO q4m_test VALUES (?, ?, ?)')
  ROWS.times { |i| stmt.execute(SecureRandom.uuid, PAYLOAD, i < ROWS - ROWS / 6 ? NEW - ROWS + i : NEW + i) }
  want(ROWS, value(client.query('SELECT COUNT(*) FROM q4m_test')))
end

check('seed-newest') do
  timed(ROWS / 6, 'the newest') do
    result = client.query("SELECT queue_wait('q4m_test:enqueued_at>=1501686146', 5)")
    want(1, value(result))
    client.query('select queue_end()')
  end
  want([ROWS - ROWS / 6, NEW - 1 - ROWS / 6], client.query('SELECT COUNT(*), MAX(enqueued_at) FROM q4m_test', as: :array).first)
  want(0, value(client.query("SELECT queue_wait('q4m_test:enqueued_at>=1501686146', 0)")))
  client.query('select queue_end()')
end

check('seed-oldest') do
  last = 0
  timed(ROWS / 6, 'the oldest') do
    result = client.query("SELECT queue_wait('q4m_test:enqueued_at<1501686146', 5)")
    want(1, value(result))
    taken = value(client.query('SELECT enqueued_at FROM q4m_test'))
    raise "#{taken} came after #{last}" unless taken > last
    last = taken
    client.query('select queue_end()')
  end
  want(ROWS - 2 * (ROWS / 6), value(client.query('SELECT COUNT(*) FROM q4m_test')))
end

check('seed-insert') do
  stmt = client.prepare('INSERT INTO q4m_test VALUES (?, ?, ?)')
  timed(ROWS * 2 / 3, 'an insert') do
    stmt.execute(SecureRandom.uuid, PAYLOAD, Time.now.to_i + 1000)
    want(1, stmt.affected_rows)
  end
  want(ROWS - 2 * (ROWS / 6) + ROWS * 2 / 3, value(client.query('SELECT COUNT(*) FROM q4m_test')))
  client.query('DROP TABLE q4m_test')
end
exit($failed ? 1 : 0)
