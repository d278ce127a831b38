# Speaks to a running hikyaku with Rails' ORM, Active Record (on mysql2), and prints a line a check: "ok NAME" or "not ok NAME: why".
# The checks and the variables that say where the server is: ../README.md.
require 'active_record'
require 'stringio'

TEXT = 'こんにちは 🚚 é'

ActiveRecord::Base.establish_connection(
  adapter: 'mysql2', host: ENV.fetch('CLIENT_HOST'), port: Integer(ENV.fetch('CLIENT_PORT')), username: ENV.fetch('CLIENT_USER'),
  password: ENV.fetch('CLIENT_PASSWORD'), database: ENV.fetch('CLIENT_DATABASE'), encoding: 'utf8mb4', pool: 1
)

class Job < ActiveRecord::Base
  self.table_name = 'ar_jobs'
  self.primary_key = 'n' # only to Active Record: a queue has no keys
end

$failed = false

def check(name)
  yield
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

def refused(kind)
  yield
rescue kind
  nil
else
  raise "not refused as #{kind}"
end

def connection = ActiveRecord::Base.connection

check('create-table') do
  connection.create_table(:ar_jobs, id: false, options: 'ENGINE=QUEUE', force: true) do |t|
    t.integer :n, null: false
    t.text :payload
    t.datetime :at, precision: 6
    t.decimal :price, precision: 10, scale: 2
    t.boolean :done, default: false, null: false
    t.json :doc
  end
  connection.add_column(:ar_jobs, :more, :string, limit: 20)
  connection.remove_column(:ar_jobs, :more)
end
check('show-table') do
  want(true, connection.tables.include?('ar_jobs'))
  want([['n', 'int', false], ['payload', 'text', true], ['at', 'datetime(6)', true], ['price', 'decimal(10,2)', true],
        ['done', 'tinyint(1)', false], ['doc', 'json', true]], connection.columns('ar_jobs').map { |c| [c.name, c.sql_type, c.null] })
  want([[], [], []], [connection.indexes('ar_jobs'), connection.primary_keys('ar_jobs'), connection.foreign_keys('ar_jobs')])
  dump = StringIO.new
  ActiveRecord::SchemaDumper.dump(connection, dump)
  want(true, dump.string.include?('options: "ENGINE=QUEUE"'))
end
check('insert-multi-row') do
  Job.create!(n: 1, payload: TEXT, at: Time.utc(2026, 1, 2, 3, 4, 5, 678_901), price: '1.25', done: true, doc: { 'a' => [1] })
  Job.insert_all!([{ n: 2, payload: "it's 100%", done: false }, { n: 3, payload: 'x', done: false }])
  job = Job.find(1)
  want([TEXT, 678_901, BigDecimal('1.25'), true, { 'a' => [1] }], [job.payload, job.at.usec, job.price, job.done, job.doc])
end
check('select') do
  want([3, 2], Job.where('n > ?', 1).order(n: :desc).pluck(:n))
  want([2], Job.where(done: false).where('payload LIKE ?', '%100\%%').map(&:n))
  want([{ true => 1, false => 2 }, BigDecimal('1.25'), 3], [Job.group(:done).count, Job.sum(:price), Job.maximum(:n)])
  want([1, true, nil], [Job.where(at: Time.utc(2026)..Time.utc(2027)).count, Job.exists?(n: 3), Job.find_by(payload: 'none')])
  want([1, 2, 3], Job.find_each(batch_size: 2).map(&:n))
end
check('insert-refused') do
  refused(ActiveRecord::NotNullViolation) { Job.create!(n: nil) }
  refused(ActiveRecord::StatementInvalid) { Job.find(1).update!(payload: 'changed') }
end
check('own-row') do
  want(1, connection.select_value("SELECT queue_wait('ar_jobs:n=3', 5)"))
  want([[3, 'x']], Job.pluck(:n, :payload))
  want(1, connection.select_value('SELECT queue_end()'))
end
check('transactions') do
  Job.transaction do
    Job.create!(n: 4)
    Job.transaction(requires_new: true) do
      Job.create!(n: 5)
      raise ActiveRecord::Rollback
    end
  end
  want([1, 2, 4, 5], Job.order(:n).pluck(:n))
  want([1, 3], [Job.where(n: 5).delete_all, Job.count])
  Job.find(4).destroy
  want([1, 2], Job.order(:n).pluck(:n))
end
check('reconnect') do
  before = connection.select_value('SELECT CONNECTION_ID()')
  connection.reconnect!
  want(false, connection.select_value('SELECT CONNECTION_ID()') == before)
  want(2, Job.count)
end
check('drop-table') { connection.drop_table(:ar_jobs) }
exit(!$failed)
