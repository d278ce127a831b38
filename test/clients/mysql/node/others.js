// Speaks to a running hikyaku with Node's other drivers and with an ORM, and prints a line a check: "ok NAME" or
// "not ok NAME: why".
//
//   others.js mysql|mariadb|sequelize
//
// The checks and the variables that say where the server is: ../README.md.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const { promisify } = require('node:util');

const { CLIENT_HOST, CLIENT_PORT, CLIENT_SOCKET } = process.env;
const { CLIENT_USER, CLIENT_PASSWORD, CLIENT_DATABASE, CLIENT_CA } = process.env;
const TEXT = 'こんにちは 🚚 é';
const account = { user: CLIENT_USER, password: CLIENT_PASSWORD, database: CLIENT_DATABASE };
const tcp = { ...account, host: CLIENT_HOST, port: Number(CLIENT_PORT) };
const want = (expected, got) => assert.deepEqual(JSON.parse(JSON.stringify(got)), expected);

let failed = false;
async function check(name, body) {
  try {
    await body();
    console.log(`ok ${name}`);
  } catch (e) {
    failed = true;
    console.log(`not ok ${name}: ${String(e.stack).replace(/\s+/g, ' ').slice(0, 500)}`);
  }
}
const refused = async (errno, body) => {
  const e = await body().then(() => new Error('nothing was raised'), (e) => e);
  assert.equal(e.errno, errno, e);
};

// connect gives query(sql, values), ping, reset and end of a connection of a driver.
const drivers = {
  // It knows mysql_native_password alone.
  async mysql(more) {
    const c = require('mysql').createConnection({ ...tcp, charset: 'utf8mb4', ...more });
    await promisify(c.connect.bind(c))();
    const change = promisify(c.changeUser.bind(c));
    return {
      query: promisify(c.query.bind(c)), ping: promisify(c.ping.bind(c)),
      reset: () => change({}), end: promisify(c.end.bind(c)),
    };
  },
  async mariadb(more) {
    const c = await require('mariadb').createConnection({ ...tcp, bigIntAsNumber: true, ...more });
    const query = async (sql, values) => {
      const { meta, ...rest } = await c.query(sql, values);
      return meta ? Object.values(rest) : rest;
    };
    const prepared = (sql, values) => c.execute(sql, values);
    return { query, ping: () => c.ping(), reset: () => c.reset(), end: () => c.end(), prepared };
  },
};

async function driver(name) {
  const connect = drivers[name];
  const once = async (more) => {
    const c = await connect(more);
    want([{ one: 1 }], await c.query('SELECT 1 AS one'));
    await c.ping();
    await c.end();
  };
  await check('connect-tcp', () => once({}));
  await check('connect-socket', () => once({ socketPath: CLIENT_SOCKET }));
  if (CLIENT_CA) await check('connect-tls', () => once({ ssl: { ca: fs.readFileSync(CLIENT_CA) } }));
  if (CLIENT_PASSWORD) {
    await check('wrong-password', async () => {
      await refused(1045, () => connect({ password: 'not it' }));
      await refused(1045, () => connect({ user: 'nobody' }));
    });
  }
  const c = await connect({});
  await check('create-table', async () => {
    await c.query('DROP TABLE IF EXISTS jobs');
    const columns = "id int NOT NULL, kind enum('a', 'b'), payload text CHARACTER SET utf8mb4";
    await c.query(`CREATE TABLE jobs (${columns}) ENGINE=QUEUE`);
  });
  await check('insert-text', async () => {
    const r = await c.query("INSERT INTO jobs VALUES (?, ?, ?), (2, 'b', 'x')", [1, 'a', TEXT]);
    assert.equal(r.affectedRows, 2);
  });
  await check('error-codes', async () => {
    await refused(1146, () => c.query('SELECT * FROM no_such_table'));
    await refused(1064, () => c.query('SELEKT 1'));
    await refused(1265, () => c.query("INSERT INTO jobs VALUES (3, 'c', NULL)"));
  });
  await check('wait', async () => want([{ n: 1 }], await c.query("SELECT queue_wait('jobs:kind=\\'a\\'', 5) AS n")));
  await check('own-row', async () => want([{ id: 1, kind: 'a', payload: TEXT }], await c.query('SELECT * FROM jobs')));
  if (c.prepared) {
    await check('own-row-prepared', async () => {
      const rows = await c.prepared('SELECT id, kind FROM jobs WHERE id = ?', [1]);
      want([{ id: 1, kind: 'a' }], Array.from(rows));
    });
  }
  await check('pool-reset', async () => {
    await c.query('SET @kept = 7');
    await c.reset();
    want([{ kept: null }], await c.query('SELECT @kept AS kept'));
    want([{ n: 2 }], await c.query('SELECT COUNT(*) AS n FROM jobs').then((rows) => rows.map((r) => ({ n: Number(r.n) }))));
  });
  await check('end', async () => {
    await c.query("SELECT queue_wait('jobs', 5)");
    await c.query('SELECT queue_end()');
    want([{ id: 2, kind: 'b', payload: 'x' }], await c.query('SELECT * FROM jobs'));
    await c.query('DROP TABLE jobs');
  });
  await c.end();
}

async function sequelize() {
  const { Sequelize, DataTypes } = require('sequelize');
  const db = new Sequelize(CLIENT_DATABASE, CLIENT_USER, CLIENT_PASSWORD || null, {
    host: CLIENT_HOST, port: Number(CLIENT_PORT), dialect: 'mysql', logging: false, pool: { max: 2 },
  });
  const jobs = db.define('jobs', {
    n: { type: DataTypes.INTEGER, allowNull: false }, kind: DataTypes.ENUM('a', 'b'), payload: DataTypes.TEXT,
  }, { timestamps: false, freezeTableName: true, engine: 'QUEUE' });
  jobs.removeAttribute('id');
  const queries = db.getQueryInterface();
  await check('connect-tcp', () => db.authenticate());
  await check('create-table', async () => {
    await queries.dropTable('jobs');
    await jobs.sync();
  });
  await check('show-table', async () => {
    assert(JSON.stringify(await queries.showAllTables()).includes('jobs'));
    const columns = await queries.describeTable('jobs');
    want(['INT', false, "ENUM('A','B')"], [columns.n.type, columns.n.allowNull, columns.kind.type.toUpperCase()]);
    want([], await queries.showIndex('jobs'));
  });
  await check('insert-text', async () => {
    await jobs.create({ n: 1, kind: 'a', payload: TEXT });
    await jobs.bulkCreate([{ n: 2, kind: 'b', payload: 'x' }, { n: 3, kind: 'a', payload: 'y' }]);
  });
  await check('select-unowned', async () => {
    want([{ n: 3 }, { n: 1 }], await jobs.findAll({ attributes: ['n'], where: { kind: 'a' }, order: [['n', 'DESC']] }));
    want([2, '2.0000'], [await jobs.count({ where: { kind: 'a' } }), await jobs.aggregate('n', 'avg', { dataType: 'string' })]);
  });
  await check('transactions', () => db.transaction(async (transaction) => {
    const select = (sql) => db.query(sql, { transaction, type: 'SELECT' });
    want([{ w: 1 }], await select("SELECT queue_wait('jobs:n=2', 0) AS w"));
    want([{ n: 2, kind: 'b', payload: 'x' }], await jobs.findAll({ transaction }));
    await select('SELECT queue_end()');
  }));
  await check('drop-table', async () => {
    assert.equal(await jobs.destroy({ where: { kind: 'a' } }), 2);
    await jobs.drop();
  });
  await db.close();
}

(async () => {
  await (process.argv[2] === 'sequelize' ? sequelize() : driver(process.argv[2]));
  process.exitCode = failed ? 1 : 0;
})();
