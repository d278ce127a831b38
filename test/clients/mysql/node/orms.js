// Speaks to a running hikyaku with ORMs and builders of queries on mysql2, and prints a line a check: "ok NAME" or
// "not ok NAME: why".
//
//   orms.js typeorm|knex|drizzle
//
// The checks and the variables that say where the server is: ../README.md.
'use strict';
const assert = require('node:assert/strict');

const { CLIENT_HOST, CLIENT_PORT, CLIENT_USER, CLIENT_PASSWORD, CLIENT_DATABASE } = process.env;
const TEXT = 'こんにちは 🚚 é';
const AT = new Date('2026-01-02T03:04:05.678Z');
const BIG = '18446744073709551615';
const place = { host: CLIENT_HOST, port: Number(CLIENT_PORT), database: CLIENT_DATABASE };
const account = { ...place, user: CLIENT_USER, password: CLIENT_PASSWORD };
const columns = "id bigint NOT NULL, kind enum('a','b'), price decimal(10,2), big bigint unsigned, flag tinyint(1), " +
  'at datetime(3), doc json, note varchar(40)';
const plain = (v) => JSON.parse(JSON.stringify(v, (_, x) => (typeof x === 'bigint' ? String(x) : x)));
const want = (expected, got) => assert.deepEqual(plain(got), plain(expected));
const own = { id: '2', kind: 'b', price: '1.10', big: BIG, flag: true, at: AT, doc: { a: [1, 'é'] }, note: TEXT };
const other = { ...own, price: null, big: null, flag: null, at: null, doc: null, note: null };

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

async function typeorm() {
  require('reflect-metadata');
  const { DataSource, EntitySchema, In } = require('typeorm');
  const optional = (c) => ({ ...c, nullable: true });
  const Job = new EntitySchema({ name: 'Job', tableName: 'jobs', columns: {
    id: { type: 'bigint', primary: true }, kind: optional({ type: 'enum', enum: ['a', 'b'] }),
    price: optional({ type: 'decimal', precision: 10, scale: 2 }), big: optional({ type: 'bigint', unsigned: true }),
    flag: optional({ type: 'boolean' }), at: optional({ type: 'datetime', precision: 3 }),
    doc: optional({ type: 'json' }), note: optional({ type: 'varchar', length: 40 }),
  } });
  const { user, ...rest } = account;
  const db = new DataSource({
    ...rest, type: 'mysql', username: user, entities: [Job], poolSize: 2, timezone: 'Z',
    supportBigNumbers: true, bigNumberStrings: true,
  });
  await check('connect-tcp', () => db.initialize());
  await check('create-table', async () => {
    await db.query('DROP TABLE IF EXISTS jobs');
    await db.query(`CREATE TABLE jobs (${columns}) ENGINE=QUEUE`);
  });
  const jobs = db.getRepository(Job);
  const look = db.createQueryRunner();
  await check('show-table', async () => {
    const found = (await look.getTable('jobs')).columns.map((c) => [c.name, c.type, c.isNullable, c.unsigned]);
    want([['big', 'bigint', true, true], ['id', 'bigint', false, false]],
      found.filter((c) => c[1] === 'bigint').sort());
    // What it would change is the key that an entity has to have, and nothing else.
    const { upQueries } = await db.driver.createSchemaBuilder().log();
    want(['ALTER TABLE `jobs` ADD PRIMARY KEY (`id`)'], upQueries.map((q) => q.query));
  });
  await look.release();
  await check('insert-multi-row', async () => {
    want(1, (await jobs.insert({ id: '1', kind: 'a' })).raw.affectedRows);
    await jobs.save([own, { ...other, id: '3' }]);
  });
  await check('select', async () => {
    want([{ ...other, id: '3' }, own], await jobs.find({ where: { id: In(['2', '3']) }, order: { id: 'DESC' } }));
    want([1, 2], [await jobs.sum('price', { id: '2' }), await jobs.countBy({ kind: 'b' })].map(Math.trunc));
    const sums = jobs.createQueryBuilder('j').select('j.kind', 'kind').addSelect('COUNT(*)', 'n').groupBy('j.kind');
    want([{ kind: 'a', n: '1' }, { kind: 'b', n: '2' }], await sums.orderBy('n').getRawMany());
  });
  await check('own-row', () => db.transaction(async (m) => {
    want([{ n: '1' }], await m.query('SELECT queue_wait(?, 5) AS n', ["jobs:kind='b'"]));
    want([own], await m.find(Job));
    await m.query('SELECT queue_end()');
  }));
  await check('transactions', () => db.transaction('SERIALIZABLE', (m) => m.transaction(async (inner) => {
    await inner.insert(Job, { id: '4' });
    want(3, await inner.count(Job));
  })));
  await check('drop-table', async () => {
    want(1, (await jobs.delete({ kind: 'a' })).affected);
    await jobs.clear();
    await db.query('DROP TABLE jobs');
  });
  await db.destroy();
}

async function knex() {
  const db = require('knex')({ client: 'mysql2', connection: { ...account, timezone: 'Z' }, pool: { min: 0, max: 2 } });
  await check('connect-tcp', () => db.raw('SELECT 1'));
  await check('create-table', async () => {
    await db.schema.dropTableIfExists('jobs');
    await db.schema.createTable('jobs', (t) => {
      t.engine('QUEUE');
      t.bigInteger('id').notNullable();
      t.enu('kind', ['a', 'b']);
      t.decimal('price', 10, 2);
      t.json('doc');
      t.datetime('at', { precision: 3 });
      t.boolean('flag').defaultTo(false);
    });
    await db.schema.alterTable('jobs', (t) => t.string('note', 40).defaultTo('none'));
  });
  await check('show-table', async () => {
    want([true, true], [await db.schema.hasTable('jobs'), await db.schema.hasColumn('jobs', 'note')]);
    const { id, note } = await db('jobs').columnInfo();
    want(['bigint', false, 'varchar', 40, 'none'],
      [id.type, id.nullable, note.type, note.maxLength, note.defaultValue]);
  });
  const row = { id: 1, kind: 'a', price: '1.25', doc: JSON.stringify({ a: TEXT }), at: AT, note: TEXT };
  await check('insert-multi-row', async () => {
    await db('jobs').insert(row);
    await db.batchInsert('jobs', [2, 3, 4, 5].map((id) => ({ id, kind: 'b' })), 3);
  });
  await check('select', async () => {
    want({ ...row, doc: { a: TEXT }, flag: 0 }, await db('jobs').where({ kind: 'a' }).first());
    want([{ id: 3 }], await db('jobs').whereIn('id', [2, 3]).orderBy('id', 'desc').limit(1).select('id'));
    want([{ n: 4, s: '14' }], await db('jobs').where('kind', 'b').count({ n: '*' }).sum({ s: 'id' }));
    want([{ x: TEXT }], (await db('jobs').jsonExtract('doc', '$.a', 'x').where('id', 1)));
    want([{ id: 1, rn: 1 }, { id: 2, rn: 1 }], await db('jobs').select('id').rowNumber('rn', 'id', 'kind').limit(2));
    const few = db.with('few', db('jobs').where('id', '<', 3)).select('id').from('few');
    want([1, 2, 9], (await few.union(db.select(db.raw('9')))).map((r) => r.id));
  });
  await check('own-row', () => db.transaction(async (t) => {
    const [[taken]] = await t.raw('SELECT queue_wait(?, ?) AS n', ['jobs:id>=4', 5]);
    want([{ n: 1 }, [4]], [taken, await t('jobs').pluck('id')]);
    await t.raw('SELECT queue_end()');
  }));
  await check('transactions', () => db.transaction(async (t) => {
    await t.transaction((inner) => inner('jobs').insert({ id: 6 }));
    want({ id: 1 }, await t('jobs').forUpdate().skipLocked().first('id'));
  }, { isolationLevel: 'read committed' }));
  await check('drop-table', async () => {
    want(3, await db('jobs').where('kind', 'b').del());
    await db('jobs').truncate();
    await db.schema.dropTable('jobs');
  });
  await db.destroy();
}

async function drizzle() {
  const { sql, eq, and, inArray, count, lt } = require('drizzle-orm');
  const d = require('drizzle-orm/mysql-core');
  const pool = require('mysql2/promise').createPool({ ...account, supportBigNumbers: true, connectionLimit: 2 });
  const db = require('drizzle-orm/mysql2').drizzle(pool);
  const jobs = d.mysqlTable('jobs', {
    id: d.bigint('id', { mode: 'bigint' }).notNull(), kind: d.mysqlEnum('kind', ['a', 'b']),
    price: d.decimal('price', { precision: 10, scale: 2 }), big: d.bigint('big', { mode: 'bigint', unsigned: true }),
    flag: d.boolean('flag'), at: d.datetime('at', { fsp: 3 }), doc: d.json('doc'),
    note: d.varchar('note', { length: 40 }),
  });
  const mine = { ...own, id: 2n, big: BigInt(BIG) };
  await check('connect-tcp', () => db.execute(sql`SELECT 1`));
  await check('create-table', async () => {
    await db.execute(sql`DROP TABLE IF EXISTS jobs`);
    await db.execute(sql.raw(`CREATE TABLE jobs (${columns}) ENGINE=QUEUE`));
  });
  await check('insert-multi-row', async () => {
    const [r] = await db.insert(jobs).values([{ id: 1n, kind: 'a' }, mine, { id: 9007199254740993n, kind: 'b' }]);
    want(3, r.affectedRows);
  });
  await check('select', async () => {
    want([mine], await db.select().from(jobs).where(and(eq(jobs.kind, 'b'), inArray(jobs.id, [1n, 2n]))));
    const many = await db.select({ k: jobs.kind, n: count() }).from(jobs).groupBy(jobs.kind);
    want([{ k: 'a', n: 1 }, { k: 'b', n: 2 }], many);
    const one = db.select({ id: jobs.id }).from(jobs).where(eq(jobs.id, sql.placeholder('id'))).prepare();
    want([{ id: 9007199254740993n }], await one.execute({ id: 9007199254740993n }));
  });
  await check('own-row', () => db.transaction(async (t) => {
    const [[taken]] = await t.execute(sql`SELECT queue_wait(${"jobs:kind='b'"}, ${5}) AS n`);
    want([{ n: 1 }, [mine]], [taken, await t.select().from(jobs)]);
    await t.execute(sql`SELECT queue_end()`);
  }));
  await check('transactions', () => db.transaction((t) => t.transaction(async (inner) => {
    await inner.insert(jobs).values({ id: 5n });
    want(3, await inner.$count(jobs));
  }), { isolationLevel: 'read committed', accessMode: 'read write', withConsistentSnapshot: true }));
  await check('drop-table', async () => {
    want(2, (await db.delete(jobs).where(lt(jobs.id, 100n)))[0].affectedRows);
    await db.execute(sql`DROP TABLE jobs`);
  });
  await pool.end();
}

(async () => {
  await { typeorm, knex, drizzle }[process.argv[2]]();
  process.exitCode = failed ? 1 : 0;
})();
