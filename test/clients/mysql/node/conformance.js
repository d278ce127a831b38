// Speaks to a running hikyaku with Node's mysql2 and prints a line a check: "ok NAME" or "not ok NAME: why".
// The checks and the variables that say where the server is: ../README.md.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const mysql = require('mysql2/promise');

const { CLIENT_HOST, CLIENT_PORT, CLIENT_SOCKET, CLIENT_USER, CLIENT_PASSWORD, CLIENT_DATABASE, CLIENT_CA } = process.env;
const PATIENCE = 60; // seconds that only a broken server needs
const TEXT = 'こんにちは 🚚 é';
const BYTES = Buffer.from(Array.from({ length: 256 }, (_, i) => i));

const open = new Set();
const options = (more = {}) => ({
  ...(more.socketPath ? {} : { host: CLIENT_HOST, port: Number(CLIENT_PORT) }),
  user: CLIENT_USER, password: CLIENT_PASSWORD, database: CLIENT_DATABASE, charset: 'utf8mb4', connectTimeout: PATIENCE * 1000,
  supportBigNumbers: true, dateStrings: true, ...more,
});
async function connect(more) {
  const connection = await mysql.createConnection(options(more));
  open.add(connection);
  return connection;
}
const socket = { socketPath: CLIENT_SOCKET };
const tls = () => ({ ssl: { ca: fs.readFileSync(CLIENT_CA), verifyIdentity: true } });

let failed = false;
async function check(name, body) {
  let timer;
  const late = new Promise((_, no) => { timer = setTimeout(() => no(new Error('it took too long')), 2 * PATIENCE * 1000); });
  try {
    await Promise.race([body(), late]);
    console.log(`ok ${name}`);
  } catch (e) {
    failed = true;
    console.log(`not ok ${name}: ${String(e.stack).replace(/\s+/g, ' ').slice(0, 500)}`);
  } finally {
    clearTimeout(timer);
  }
}

const want = (expected, got) => assert.deepEqual(got, expected);

// refused demands that MySQL's error of that number and SQLSTATE is raised; the name is what mysql2 calls the number.
async function refused(errno, sqlState, code, body) {
  try {
    await body();
  } catch (e) {
    want({ errno, sqlState, code }, { errno: e.errno, sqlState: e.sqlState, code: e.code });
    return;
  }
  throw new Error(`nothing was raised, wanted error ${errno} (${sqlState})`);
}

const rows = async (c, sql, args) => (await c.query({ sql, rowsAsArray: true }, args))[0];
const value = async (c, sql, args) => (await rows(c, sql, args))[0][0];
const prepared = async (c, sql, args = []) => (await c.execute({ sql, rowsAsArray: true }, args))[0];
const changed = async (c, sql, args) => (await c.query(sql, args))[0].affectedRows;

async function connections() {
  await check('connect-tcp', async () => want(1, await value(await connect(), 'SELECT 1')));
  await check('connect-socket', async () => want(1, await value(await connect(socket), 'SELECT 1')));
  await check('ping', async () => (await connect()).ping());
  if (CLIENT_CA) {
    await check('connect-tls', async () => {
      const c = await connect(tls());
      assert.notEqual((await rows(c, "SHOW STATUS LIKE 'Ssl_cipher'"))[0][1], '');
    });
  }
  if (!CLIENT_PASSWORD) return;
  // It takes the method that the greeting names.
  await check('connect-native', async () => want(1, await value(await connect(), 'SELECT 1')));
  await check('wrong-password', async () => {
    await refused(1045, '28000', 'ER_ACCESS_DENIED_ERROR', () => connect({ password: 'not it' }));
    await refused(1045, '28000', 'ER_ACCESS_DENIED_ERROR', () => connect({ password: '' }));
    await refused(1045, '28000', 'ER_ACCESS_DENIED_ERROR', () => connect({ user: 'nobody' }));
  });
}

async function tables(c) {
  await check('create-table', async () => {
    await c.query('DROP TABLE IF EXISTS q4m_test');
    await c.query(`CREATE TABLE \`q4m_test\` (
      \`id\` varchar(255) COLLATE utf8mb4_bin NOT NULL,
      \`payload\` text COLLATE utf8mb4_bin NOT NULL,
      \`enqueued_at\` int(10) unsigned NOT NULL
    ) ENGINE=QUEUE;`);
  });
  await check('show-table', async () => {
    want([['q4m_test']], await rows(c, "SHOW TABLES LIKE 'q4m_test'"));
    assert.match((await rows(c, 'SHOW CREATE TABLE q4m_test'))[0][1], /ENGINE=QUEUE/);
    const [, fields] = await c.query('SELECT * FROM q4m_test');
    want(['id', 'payload', 'enqueued_at'], fields.map((f) => f.name));
  });
  await check('insert-text', async () => want(1, await changed(c, "INSERT INTO q4m_test VALUES ('a', 'first', 10)")));
  await check('insert-prepared', async () => {
    const statement = await c.prepare('INSERT INTO q4m_test VALUES (?, ?, ?)');
    for (const [id, at] of [['b', 20], ['c', 21]]) want(1, (await statement.execute([id, TEXT, at]))[0].affectedRows);
    await statement.close();
  });
  await check('insert-multi-row', async () => {
    const three = [[30, 'd', ''], [31, 'e', 'x'], [32, 'f', 'y']];
    want(3, await changed(c, 'INSERT INTO q4m_test (enqueued_at, id, payload) VALUES ?', [three]));
  });
  await check('insert-refused', async () => {
    await refused(1048, '23000', 'ER_BAD_NULL_ERROR', () => c.query("INSERT INTO q4m_test VALUES ('g', 'z', 40), (NULL, 'z', 41)"));
    want(6, await value(c, 'SELECT COUNT(*) FROM q4m_test'));
  });
  await check('select-unowned', async () => {
    want([['a', 'first', 10], ['b', TEXT, 20], ['c', TEXT, 21], ['d', '', 30], ['e', 'x', 31], ['f', 'y', 32]], await rows(c, 'SELECT * FROM q4m_test'));
    want([['f'], ['e']], await rows(c, 'SELECT id FROM q4m_test WHERE enqueued_at > ? ORDER BY enqueued_at DESC', [30]));
  });
  await check('error-codes', async () => {
    await refused(1146, '42S02', 'ER_NO_SUCH_TABLE', () => c.query('SELECT * FROM no_such_table'));
    await refused(1146, '42S02', 'ER_NO_SUCH_TABLE', () => c.execute('SELECT * FROM no_such_table'));
    await refused(1064, '42000', 'ER_PARSE_ERROR', () => c.query('SELEKT 1'));
    await refused(1050, '42S01', 'ER_TABLE_EXISTS_ERROR', () => c.query('CREATE TABLE q4m_test (id int) ENGINE=QUEUE'));
  });
  await check('abort-outside-owner-mode', async () => {
    await refused(1210, 'HY000', 'ER_WRONG_ARGUMENTS', () => c.query('SELECT queue_abort()'));
    want(1, await value(c, 'SELECT 1'));
  });
}

async function ownerMode(c) {
  await check('wait', async () => want(1, await value(c, "SELECT queue_wait('q4m_test')")));
  await check('own-row-text', async () => want([['a', 'first', 10]], await rows(c, 'select * from q4m_test')));
  await check('own-row-prepared', async () => want([['a', 'first', 10]], await prepared(c, 'select * from q4m_test')));
  await check('rowid', async () => want(1, await value(c, 'SELECT queue_rowid()')));
  await check('abort', async () => {
    want(1, await value(c, 'SELECT queue_abort()'));
    want(1, await value(c, "SELECT queue_wait('q4m_test', 0)"));
    want(1, await value(c, 'SELECT queue_rowid()'));
  });
  await check('end', async () => {
    want(1, await value(c, 'select queue_end()'));
    want(5, await value(c, 'SELECT COUNT(*) FROM q4m_test'));
  });
  await check('wait-condition', async () => {
    want(1, await value(c, "SELECT queue_wait('q4m_test:enqueued_at>=31', 5)"));
    want([['e', 'x', 31]], await rows(c, 'SELECT * FROM q4m_test'));
    want(2, await value(c, "SELECT queue_wait('q4m_test:enqueued_at>99', 'q4m_test:enqueued_at<31', 5)"));
    want([['b', TEXT, 20]], await rows(c, 'SELECT * FROM q4m_test'));
    want(1, await value(c, 'SELECT queue_end()'));
  });
  await check('wait-prepared', async () => {
    want([[1]], await prepared(c, 'SELECT queue_wait(?, ?)', ['q4m_test:enqueued_at=32', 5]));
    want([['f', 'y', 32]], await prepared(c, 'SELECT * FROM q4m_test'));
    want([[1]], await prepared(c, 'SELECT queue_end()'));
  });
  await check('time-out', async () => {
    want(0, await value(c, "SELECT queue_wait('q4m_test:enqueued_at>99', 1)"));
    want([], await rows(c, 'SELECT * FROM q4m_test'));
    want([], await prepared(c, 'SELECT * FROM q4m_test'));
    want(null, await value(c, 'SELECT queue_rowid()'));
    want(1, await value(c, 'SELECT queue_end()'));
  });
  await check('bad-condition', async () => {
    want(null, await value(c, "SELECT queue_wait('q4m_test:enqueued_at>>', 1)"));
    const [level, number, message] = (await rows(c, 'SHOW WARNINGS'))[0];
    want(['Warning', 1210], [level, number]);
    assert.match(message, /character/);
    want(null, await value(c, "SELECT queue_wait('no_such_table', 0)"));
  });
  await check('wake-up', async () => {
    const other = await connect();
    const waiting = value(other, `SELECT queue_wait('q4m_test:enqueued_at=77', ${PATIENCE})`);
    await c.query("INSERT INTO q4m_test VALUES ('w', 'wake', 77)");
    want(1, await waiting);
  });
  await check('disconnect', async () => {
    const other = await connect(socket);
    want(1, await value(other, "SELECT queue_wait('q4m_test:enqueued_at=30', 0)"));
    want(0, await value(c, "SELECT queue_wait('q4m_test:enqueued_at=30', 0)"));
    other.destroy(); // hangs up without a word
    open.delete(other);
    want(1, await value(c, `SELECT queue_wait('q4m_test:enqueued_at=30', ${PATIENCE})`));
    want(1, await value(c, 'SELECT queue_end()'));
  });
  await check('pool', async () => {
    const pool = mysql.createPool(options({ connectionLimit: 2 }));
    try {
      const all = Array.from({ length: 8 }, (_, i) => pool.query('INSERT INTO q4m_test VALUES (?, ?, ?)', [`p${i}`, 'pool', 80]));
      want(Array(8).fill(1), (await Promise.all(all)).map(([r]) => r.affectedRows));
      const one = await pool.getConnection();
      want(1, await value(one, "SELECT queue_wait('q4m_test:enqueued_at=80', 5)"));
      want(1, await value(one, 'SELECT queue_end()'));
      one.release();
      want(7, await value(c, 'SELECT COUNT(*) FROM q4m_test WHERE enqueued_at = 80'));
    } finally {
      await pool.end();
    }
  });
}

async function types(c) {
  const kinds = [
    -128, -2147483648, '18446744073709551615', '-1234567890123456.7890', 1.5, 0.1,
    '2026-11-22 03:04:05.678901', '2026-11-22', TEXT, BYTES, null,
  ];
  const insert = `INSERT INTO kinds VALUES (${kinds.map(() => '?').join(', ')})`;
  await check('types-insert-text', async () => {
    await c.query('DROP TABLE IF EXISTS kinds');
    await c.query(`CREATE TABLE kinds (
      t tinyint NOT NULL, i int, u bigint unsigned, d decimal(20,4), f float, g double,
      at datetime(6), day date, s varchar(255) CHARACTER SET utf8mb4, b blob, n int
    ) ENGINE=QUEUE`);
    want(1, await changed(c, insert, kinds));
  });
  await check('types-insert-prepared', async () => want(1, (await c.execute(insert, kinds))[0].affectedRows));
  await check('types-read-text', async () => want([kinds, kinds], await rows(c, 'SELECT * FROM kinds')));
  await check('types-read-prepared', async () => want([kinds, kinds], await prepared(c, 'SELECT * FROM kinds')));
  await check('types-own-row', async () => {
    want(1, await value(c, "SELECT queue_wait('kinds', 0)"));
    want([kinds], await rows(c, 'SELECT * FROM kinds'));
    want([kinds], await prepared(c, 'SELECT * FROM kinds'));
    want(1, await value(c, 'SELECT queue_end()'));
  });
  await check('long-row', async () => {
    const long = TEXT.repeat(100_000); // 2.5 MB
    await c.query('DROP TABLE IF EXISTS letters');
    await c.query('CREATE TABLE letters (id int, payload longtext) ENGINE=QUEUE');
    await c.execute('INSERT INTO letters VALUES (?, ?)', [1, long]);
    await c.query('INSERT INTO letters VALUES (?, ?)', [2, long]);
    want(1, await value(c, "SELECT queue_wait('letters:id=2', 0)"));
    assert((await value(c, 'SELECT payload FROM letters')) === long, 'text: another payload came back');
    want(1, await value(c, "SELECT queue_wait('letters:id=1', 0)"));
    assert((await prepared(c, 'SELECT payload FROM letters'))[0][0] === long, 'prepared: another payload came back');
    want(1, await value(c, 'SELECT queue_end()'));
  });
}

async function session(c) {
  await check('set-names', async () => {
    await c.query('SET NAMES utf8mb4');
    want([[TEXT, 'utf8mb4']], await rows(c, 'SELECT ?, @@character_set_client', [TEXT]));
  });
  await check('transactions', async () => {
    const before = await value(c, 'SELECT COUNT(*) FROM q4m_test');
    await c.query('SET autocommit=0');
    await c.beginTransaction();
    await c.query("INSERT INTO q4m_test VALUES ('t', 'kept', 60)");
    await c.commit();
    await c.beginTransaction();
    await c.query("INSERT INTO q4m_test VALUES ('u', 'kept', 61)");
    await c.rollback();
    want(1196, (await rows(c, 'SHOW WARNINGS'))[0][1]);
    await c.query('SET autocommit=1');
    want(before + 2, await value(c, 'SELECT COUNT(*) FROM q4m_test'));
  });
  await check('drop-table', async () => {
    await c.query('DROP TABLE q4m_test');
    await c.query('DROP TABLE kinds, letters');
    await refused(1146, '42S02', 'ER_NO_SUCH_TABLE', () => c.query('SELECT * FROM q4m_test'));
  });
}

(async () => {
  await connections();
  const c = await connect();
  await tables(c);
  await ownerMode(c);
  await types(c);
  await session(c);
  await Promise.all([...open].map((one) => one.end()));
  process.exitCode = failed ? 1 : 0;
})();
