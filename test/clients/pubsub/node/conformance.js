// Speaks to a running hikyaku with Node's @google-cloud/pubsub and prints a line a check: "ok NAME" or "not ok NAME: why".
// The checks and the variables that say where the server is: ../README.md.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const { Duration, Encodings, PubSub, SchemaTypes } = require('@google-cloud/pubsub');
const rest = require('./rest.js');

const { CLIENT_PROJECT, CLIENT_SIGNALS } = process.env;
const PATIENCE = 60; // seconds that only a broken server needs
const SOON = 5; // seconds, less than any deadline of the libraries
const TEXT = 'こんにちは 🚚 é';
const BYTES = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
const [ALREADY_EXISTS, NOT_FOUND, INVALID_ARGUMENT] = [6, 5, 3];

const pubsub = new PubSub({ projectId: CLIENT_PROJECT });
let failed = false;

async function within(seconds, promise, what) {
  let timer;
  const late = new Promise((_, no) => { timer = setTimeout(() => no(new Error(what)), seconds * 1000); });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function check(name, body) {
  try {
    await within(4 * PATIENCE, body(), 'it took too long');
    console.log(`ok ${name}`);
  } catch (e) {
    failed = true;
    console.log(`not ok ${name}: ${String(e.stack).replace(/\s+/g, ' ').slice(0, 500)}`);
  }
}

const want = (expected, got) => assert.deepEqual(got, expected);

// refused demands that an error of gRPC's code is raised.
async function refused(code, promise) {
  try {
    await promise;
  } catch (e) {
    want(code, e.code);
    return;
  }
  throw new Error(`nothing was raised, wanted the code ${code}`);
}

const numbered = (n) => Array.from({ length: n }, (_, i) => `message ${String(i).padStart(4, '0')}`);

// make makes a topic and a subscription of one name.
async function make(name, options = {}) {
  const [topic] = await pubsub.createTopic(name);
  await topic.createSubscription(name, options);
}

// publish publishes all at once, and waits until they are stored.
async function publish(name, texts, { orderingKey, client = pubsub } = {}) {
  const topic = client.topic(name, { messageOrdering: orderingKey !== undefined });
  return Promise.all(texts.map((t) => topic.publishMessage({ data: Buffer.from(t), orderingKey })));
}

// receive streams until handle said true for n messages.
async function receive(name, n, handle) {
  const subscription = pubsub.subscription(name, { flowControl: { maxMessages: 200 } });
  let left = n;
  const over = new Promise((yes, no) => {
    subscription.on('error', no);
    subscription.on('message', async (m) => {
      try {
        if (await handle(m) && --left === 0) {
          yes();
        }
      } catch (e) {
        no(e);
      }
    });
  });
  try {
    await within(PATIENCE, over, `some of ${n} messages did not come`);
  } finally {
    await subscription.close();
  }
}

// received acknowledges n messages and returns them.
async function received(name, n) {
  const messages = [];
  await receive(name, n, (m) => {
    messages.push(m);
    m.ack();
    return true;
  });
  return messages;
}

const texts = (messages) => messages.map((m) => m.data.toString());

// admin is the generated client, for what the other one has no words for.
const admin = async (name) => {
  const subscriber = await subscriberClient();
  return { subscriber, subscription: pubsub.subscription(name).name };
};
let subscriberClient = async () => {
  const { v1 } = require('@google-cloud/pubsub');
  const client = new v1.SubscriberClient(await pubsub.getClientConfig());
  subscriberClient = async () => client;
  return client;
};

async function pullOne(name, maxMessages = 10) {
  const { subscriber, subscription } = await admin(name);
  const [r] = await subscriber.pull({ subscription, maxMessages });
  return r.receivedMessages;
}

// empty demands that a subscription has nothing to give.
async function empty(name) {
  const { subscriber, subscription } = await admin(name);
  const [r] = await subscriber.pull({ subscription, maxMessages: 10, returnImmediately: true });
  want([], r.receivedMessages.map((m) => m.message.data.toString()));
}

async function create() {
  await make('create', { ackDeadlineSeconds: 20, labels: { team: 'couriers' }, retryPolicy: { minimumBackoff: { seconds: 1 } } });
  const [got] = await pubsub.subscription('create').getMetadata();
  want([pubsub.topic('create').name, 20, { team: 'couriers' }, '1'],
    [got.topic, got.ackDeadlineSeconds, got.labels, String(got.retryPolicy.minimumBackoff.seconds)]);
  await refused(ALREADY_EXISTS, pubsub.createTopic('create'));
}

async function update() {
  const [topic] = await pubsub.topic('create').setMetadata({ labels: { a: 'b' } });
  want({ a: 'b' }, topic.labels);
  const [got] = await pubsub.subscription('create').setMetadata({ ackDeadlineSeconds: 30 });
  want([30, { team: 'couriers' }], [got.ackDeadlineSeconds, got.labels]);
  await refused(INVALID_ARGUMENT, pubsub.subscription('create').setMetadata({ noSuchField: 1 }));
}

async function errors() {
  await refused(NOT_FOUND, pubsub.topic('missing').publishMessage({ data: Buffer.from('x') }));
  await refused(INVALID_ARGUMENT, pubsub.createTopic('goog-1'));
  await refused(NOT_FOUND, pubsub.createSubscription('missing', 'orphan'));
  const missing = pubsub.subscription('missing');
  const raised = new Promise((_, no) => missing.on('error', no));
  missing.on('message', () => {});
  await refused(NOT_FOUND, within(PATIENCE, raised, 'nothing was raised'));
  await missing.close();
}

async function publishPlain() {
  await make('plain');
  const id = await pubsub.topic('plain').publishMessage({ data: BYTES, attributes: { text: TEXT, empty: '' } });
  const [m] = await received('plain', 1);
  want([BYTES, { text: TEXT, empty: '' }, id], [m.data, { ...m.attributes }, m.id]);
  assert(Math.abs(Date.now() - m.publishTime.getTime()) < 60_000);
  await empty('plain');
}

async function publishBatched() {
  await make('batched');
  await publish('batched', numbered(2500));
  want(numbered(2500), texts(await received('batched', 2500)).sort());
}

async function publishCompressed() {
  await make('compressed');
  const client = new PubSub({ projectId: CLIENT_PROJECT, 'grpc.default_compression_algorithm': 2 }); // gzip
  const text = TEXT.repeat(10_000);
  await publish('compressed', [text], { client });
  want([text], texts(await received('compressed', 1)));
  await client.close();
}

async function publishOrdered() {
  await make('ordered', { enableMessageOrdering: true });
  const got = {};
  for (const orderingKey of ['a', 'b', '飛脚']) {
    await publish('ordered', numbered(100), { orderingKey });
    got[orderingKey] = [];
  }
  for (const m of await received('ordered', 300)) {
    got[m.orderingKey].push(m.data.toString());
  }
  want({ a: numbered(100), b: numbered(100), '飛脚': numbered(100) }, got);
}

async function pull() {
  await make('pull');
  await publish('pull', ['one']);
  const got = await pullOne('pull');
  want(['one'], got.map((m) => m.message.data.toString()));
  const { subscriber, subscription } = await admin('pull');
  const ackIds = got.map((m) => m.ackId);
  await subscriber.modifyAckDeadline({ subscription, ackIds, ackDeadlineSeconds: 60 });
  await subscriber.acknowledge({ subscription, ackIds });
  await empty('pull');
}

async function nack() {
  await make('nack');
  await publish('nack', ['again']);
  const seen = {};
  await receive('nack', 1, (m) => {
    seen[m.id] = (seen[m.id] ?? 0) + 1;
    if (seen[m.id] < 3) {
      m.nack();
      return false;
    }
    m.ack();
    return true;
  });
  want(1, Object.keys(seen).length);
  await empty('nack');
}

// restart: what a subscriber has not answered when it is stopped comes to the next one at once.
async function restart() {
  await make('restart', { ackDeadlineSeconds: 600 });
  await publish('restart', numbered(20));
  const taken = [];
  await receive('restart', 20, (m) => {
    taken.push(m.data.toString());
    if (taken.at(-1) < 'message 0005') {
      m.ack();
    }
    return true;
  });
  want(numbered(20), taken.sort());
  const began = Date.now();
  want(numbered(20).slice(5), texts(await received('restart', 15)).sort());
  assert(Date.now() - began < SOON * 1000, `it took ${Date.now() - began} ms`);
}

async function exactlyOnce() {
  await make('once', { enableExactlyOnceDelivery: true });
  await publish('once', numbered(50));
  const got = [];
  await receive('once', 50, async (m) => {
    want('SUCCESS', await m.ackWithResponse());
    got.push(m.data.toString());
    return true;
  });
  want(numbered(50), got.sort());

  await publish('once', ['stale']);
  const { subscriber, subscription } = await admin('once');
  const [{ ackId: old }] = await pullOne('once', 1);
  await subscriber.modifyAckDeadline({ subscription, ackIds: [old], ackDeadlineSeconds: 0 });
  const [{ ackId: fresh }] = await pullOne('once', 1);
  await refused(INVALID_ARGUMENT, subscriber.acknowledge({ subscription, ackIds: [old] }));
  await subscriber.acknowledge({ subscription, ackIds: [fresh] });
  await empty('once');
}

async function deadLetter() {
  await make('dead');
  await make('alive', { deadLetterPolicy: { deadLetterTopic: pubsub.topic('dead').name, maxDeliveryAttempts: 5 } });
  await publish('alive', ['poison']);
  const attempts = [];
  await receive('alive', 5, (m) => {
    attempts.push(m.deliveryAttempt);
    m.nack();
    return true;
  });
  want([1, 2, 3, 4, 5], attempts);
  const [letter] = await received('dead', 1);
  want(['poison', 'alive'], [letter.data.toString(), letter.attributes.CloudPubSubDeadLetterSourceSubscription]);
  await empty('alive');
}

async function seekTime() {
  await make('past', { retainAckedMessages: true, messageRetentionDuration: 3600 });
  await publish('past', numbered(20));
  await received('past', 20);
  await empty('past');
  await pubsub.subscription('past').seek(new Date(Date.now() - 3600_000));
  want(numbered(20), texts(await received('past', 20)).sort());
  await publish('past', ['never seen']);
  await pubsub.subscription('past').seek(new Date(Date.now() + 60_000));
  await empty('past');
}

async function seekSnapshot() {
  await make('shot', { enableMessageOrdering: true });
  await publish('shot', numbered(10), { orderingKey: 'k' });
  const snapshot = pubsub.subscription('shot').snapshot('shot');
  await snapshot.create();
  for (let i = 0; i < 2; i++) {
    want(numbered(10), texts(await received('shot', 10)));
    await snapshot.seek();
  }
  await snapshot.delete();
}

async function filter() {
  await make('filter', { filter: 'attributes.lang = "ja" OR (attributes:id AND NOT hasPrefix(attributes.id, "x"))' });
  const topic = pubsub.topic('filter');
  for (const [i, attributes] of [{ lang: 'ja' }, { lang: 'en' }, { id: 'y' }, { id: 'xy' }, { other: '' }].entries()) {
    await topic.publishMessage({ data: Buffer.from(String(i)), attributes });
  }
  want(['0', '2'], texts(await received('filter', 2)).sort());
  await empty('filter');
  await refused(INVALID_ARGUMENT, topic.createSubscription('unfiltered', { filter: 'attributes.lang = ja' }));
}

async function schema() {
  await pubsub.createSchema('seen', SchemaTypes.Avro, '{"type": "record", "name": "Seen", "fields": [{"name": "who", "type": "string"}]}');
  const full = `projects/${CLIENT_PROJECT}/schemas/seen`;
  await pubsub.createTopic({ name: 'schema', schemaSettings: { schema: full, encoding: Encodings.Json } });
  await publish('schema', ['{"who": "Ken"}']);
  await refused(INVALID_ARGUMENT, publish('schema', ['{"who": 5}']));
  await pubsub.validateSchema({ type: SchemaTypes.ProtocolBuffer, definition: 'syntax = "proto3"; message M { string a = 1; }' });
  await refused(INVALID_ARGUMENT, pubsub.validateSchema({ type: SchemaTypes.Avro, definition: '{' }));
}

// push receives by HTTP; the first delivery is refused.
async function push() {
  let first = true;
  let arrived;
  const got = new Promise((yes) => { arrived = yes; });
  const server = http.createServer(async (req, res) => {
    const chunks = [];
    for await (const c of req) {
      chunks.push(c);
    }
    res.statusCode = first ? 503 : 204;
    res.end();
    if (!first) {
      arrived(JSON.parse(Buffer.concat(chunks)));
    }
    first = false;
  });
  await new Promise((yes) => { server.listen(0, '127.0.0.1', yes); });
  try {
    await make('push', { pushEndpoint: `http://127.0.0.1:${server.address().port}/push` });
    const id = await pubsub.topic('push').publishMessage({ data: Buffer.from(TEXT), attributes: { lang: 'ja' } });
    const { message, subscription } = await within(PATIENCE, got, 'nothing was pushed');
    want([TEXT, { lang: 'ja' }, id, pubsub.subscription('push').name], [Buffer.from(message.data, 'base64').toString(), message.attributes, message.messageId, subscription]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function remove() {
  const [subscriptions] = await pubsub.getSubscriptions({ pageSize: 3, autoPaginate: true });
  assert(subscriptions.length >= 10, `only ${subscriptions.length} subscriptions are listed`);
  const [topics] = await pubsub.getTopics();
  await Promise.all(topics.map((t) => t.delete()));
  const [got] = await pubsub.subscription('create').getMetadata();
  want('_deleted-topic_', got.topic);
  await Promise.all(subscriptions.map((s) => s.delete()));
  await refused(NOT_FOUND, pubsub.subscription('create').getMetadata());
}

// endure publishes and receives while the server is killed, until it is told to stop, and then until all has come.
async function endure() {
  const received = new Set();
  const confirmed = new Set();
  const doubled = [];
  const results = [];
  const pause = () => new Promise((yes) => { setTimeout(yes, 20); });
  await make('endure', { enableExactlyOnceDelivery: true });
  // A message that was on its way when the server was killed comes again after that long; the library's own choice is a minute.
  const shortest = Duration.from({ seconds: 10 });
  const subscription = pubsub.subscription('endure', { minAckDeadline: shortest, maxAckDeadline: shortest });
  const broken = new Promise((_, no) => subscription.on('error', no));
  broken.catch(() => {}); // told below
  subscription.on('message', async (m) => {
    if (confirmed.has(m.id)) {
      doubled.push(m.id);
    }
    try {
      if (await m.ackWithResponse() === 'SUCCESS') {
        confirmed.add(m.id);
      }
    } catch {
      // it comes again
    }
    received.add(m.data.toString());
    fs.writeFileSync(path.join(CLIENT_SIGNALS, CLIENT_PROJECT), '');
  });
  await check('all-published', async () => {
    const topic = pubsub.topic('endure');
    while (!fs.existsSync(path.join(CLIENT_SIGNALS, 'stop'))) {
      const result = topic.publishMessage({ data: Buffer.from(String(results.length)) });
      result.catch(() => {}); // told below
      results.push(result);
      await pause();
    }
    await Promise.all(results);
  });
  await check('nothing-lost', async () => {
    const late = Date.now() + 2 * PATIENCE * 1000;
    while (received.size < results.length) {
      assert(Date.now() < late, `${results.length - received.size} of ${results.length} did not come`);
      await Promise.race([pause(), broken]);
    }
    await subscription.close();
  });
  await check('nothing-doubled', async () => want([], doubled));
}

async function everything() {
  await check('create', create);
  await check('update', update);
  await check('errors', errors);
  await check('publish-plain', publishPlain);
  await check('publish-batched', publishBatched);
  await check('publish-compressed', publishCompressed);
  await check('publish-ordered', publishOrdered);
  await check('pull', pull);
  await check('nack', nack);
  await check('restart', restart);
  await check('exactly-once', exactlyOnce);
  await check('dead-letter', deadLetter);
  await check('seek-time', seekTime);
  await check('seek-snapshot', seekSnapshot);
  await check('filter', filter);
  await check('schema', schema);
  await check('push', push);
  await check('rest', () => rest(process.env.PUBSUB_EMULATOR_HOST, `${CLIENT_PROJECT}-rest`, refused));
  await check('delete', remove);
}

(async () => {
  await (process.argv[2] === 'endure' ? endure() : everything());
  await (await subscriberClient()).close();
  await pubsub.close();
  process.exit(failed ? 1 : 0);
})();
