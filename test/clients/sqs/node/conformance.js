// Speaks to a running hikyaku with Node's @aws-sdk/client-sqs and prints a line a check: "ok NAME" or "not ok NAME: why".
// The checks and the variables that say where the server is: ../README.md. The client verifies the checksums that it is answered by itself.
'use strict';
const assert = require('node:assert/strict');
const http = require('node:http');
const { setTimeout: sleep } = require('node:timers/promises');
const sdk = require('@aws-sdk/client-sqs');
const framework = require('./consumer.js');

const { SQS_ENDPOINT, HTTP_ENDPOINT, SIGNED_ENDPOINT, CLIENT_PREFIX } = process.env;
const PATIENCE = 60; // seconds that only a broken server needs
const ACCOUNT = '000000000000';
const TEXT = 'こんにちは 🚚 é <&> "\'\t\r\n';
const WAITING = 200;

function open(endpoint, accessKeyId, secretAccessKey) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: WAITING + 10 });
  return new sdk.SQSClient({ endpoint, region: 'us-east-1', credentials: { accessKeyId, secretAccessKey }, maxAttempts: 1, requestHandler: { httpAgent: agent } });
}

const sqs = open(SQS_ENDPOINT, 'any', 'thing');
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

const want = (expected, got) => assert.deepEqual(got, expected);

// refused demands that a call fails with an error of that name.
async function refused(name, promise) {
  try {
    await promise;
  } catch (e) {
    want(name, e.name);
    return;
  }
  throw new Error(`nothing was raised, wanted ${name}`);
}

// call makes a call by its name: call('SendMessage', {…}).
const call = (name, input, client = sqs) => client.send(new sdk[`${name}Command`](input));

const name = (n) => `${CLIENT_PREFIX}-${n}`;
const queue = async (n, Attributes = {}) => (await call('CreateQueue', { QueueName: name(n), Attributes })).QueueUrl;
const send = (QueueUrl, MessageBody, more = {}) => call('SendMessage', { QueueUrl, MessageBody, ...more });
const receive = async (QueueUrl, more = {}) => (await call('ReceiveMessage', { QueueUrl, MaxNumberOfMessages: 10, ...more })).Messages ?? [];
const remove = (QueueUrl, m) => call('DeleteMessage', { QueueUrl, ReceiptHandle: m.ReceiptHandle });
const change = (QueueUrl, m, VisibilityTimeout) => call('ChangeMessageVisibility', { QueueUrl, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout });
const bodies = (messages) => messages.map((m) => m.Body);
const string = (StringValue, DataType = 'String') => ({ DataType, StringValue });
const EVERYTHING = { MessageSystemAttributeNames: ['All'], MessageAttributeNames: ['All'] };
const SOON = { WaitTimeSeconds: 20 };

// drain receives and deletes n messages, in the order in which they come.
async function drain(url, n, more = {}) {
  const got = [];
  for (const late = Date.now() + PATIENCE * 1000; got.length < n;) {
    const some = await receive(url, { ...SOON, ...more });
    for (const m of some) {
      await remove(url, m);
    }
    got.push(...some);
    assert.ok(Date.now() < late, `${got.length} of ${n} messages came`);
  }
  return got;
}

async function attributes(QueueUrl, ...AttributeNames) {
  const { Attributes = {} } = await call('GetQueueAttributes', { QueueUrl, AttributeNames });
  return AttributeNames.map((n) => Attributes[n]);
}

async function eventually(expected, ask) {
  for (const late = Date.now() + PATIENCE * 1000; ;) {
    const got = await ask();
    if (JSON.stringify(got) === JSON.stringify(expected) || Date.now() > late) {
      want(expected, got);
      return;
    }
    await sleep(50);
  }
}

// plain makes attributes comparable: the client gives bytes of its own kind.
const plain = (attributes) => Object.fromEntries(Object.entries(attributes ?? {}).map(
  ([n, v]) => [n, [v.DataType, v.StringValue, v.BinaryValue && Buffer.from(v.BinaryValue).toString('hex')]]));

async function queues() {
  const url = await queue('queues', { VisibilityTimeout: '45', DelaySeconds: '0' });
  want(`/${ACCOUNT}/${name('queues')}`, new URL(url).pathname);
  want(url, await queue('queues', { VisibilityTimeout: '45' }));
  want(url, await queue('queues'));
  want(url, (await call('GetQueueUrl', { QueueName: name('queues'), QueueOwnerAWSAccountId: ACCOUNT })).QueueUrl);
  await refused('QueueNameExists', queue('queues', { VisibilityTimeout: '46' }));
  await refused('InvalidParameterValue', queue('not a name'));
  const urls = [];
  for (let i = 0; i < 5; i++) {
    urls.push(await queue(`page-${i}`));
  }
  const pages = [];
  for await (const page of sdk.paginateListQueues({ client: sqs, pageSize: 2 }, { QueueNamePrefix: name('page-') })) {
    pages.push(page.QueueUrls);
  }
  want([2, 2, 1], pages.map((p) => p.length));
  want(urls, pages.flat().sort());
  want([], (await call('ListQueues', { QueueNamePrefix: name('none') })).QueueUrls ?? []);
}

async function attributesOfQueues() {
  const given = {
    VisibilityTimeout: '33', DelaySeconds: '0', MaximumMessageSize: '2048', MessageRetentionPeriod: '3600', ReceiveMessageWaitTimeSeconds: '0',
    Policy: '{"Version": "2012-10-17", "Statement": []}', KmsMasterKeyId: 'alias/some', KmsDataKeyReusePeriodSeconds: '600',
  };
  const url = await queue('attributes', given);
  const { Attributes: all } = await call('GetQueueAttributes', { QueueUrl: url, AttributeNames: ['All'] });
  want(given, Object.fromEntries(Object.keys(given).map((n) => [n, all[n]])));
  assert.match(all.QueueArn, new RegExp(`:${ACCOUNT}:${name('attributes')}$`));
  await call('SetQueueAttributes', { QueueUrl: url, Attributes: { VisibilityTimeout: '44', Policy: '' } });
  want(['44', undefined], await attributes(url, 'VisibilityTimeout', 'Policy'));
  await send(url, 'one');
  await send(url, 'two');
  await send(url, 'three', { DelaySeconds: 600 });
  want(1, (await receive(url, { MaxNumberOfMessages: 1 })).length);
  want(['1', '1', '1'], await attributes(url, 'ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible', 'ApproximateNumberOfMessagesDelayed'));
  await refused('InvalidAttributeName', attributes(url, 'Colour'));
  await refused('InvalidAttributeName', call('SetQueueAttributes', { QueueUrl: url, Attributes: { Colour: 'red' } }));
  await refused('InvalidAttributeValue', call('SetQueueAttributes', { QueueUrl: url, Attributes: { VisibilityTimeout: '43201' } }));
  await refused('InvalidParameterValue', send(url, 'x'.repeat(2049)));
}

async function sendAndReceive() {
  const url = await queue('send');
  const given = {
    lang: string('ja'), price: string('12.50', 'Number'), colour: string('赤', 'String.name'), big: string('123456789012345678901234567890', 'Number'),
    bytes: { DataType: 'Binary', BinaryValue: Uint8Array.from({ length: 256 }, (_, i) => i) }, picture: { DataType: 'Binary.png', BinaryValue: Buffer.from('89504e47', 'hex') },
  };
  const trace = 'Root=1-5759e988-bd862e3fe1be46a994272793';
  const sent = await send(url, TEXT, { MessageAttributes: given, MessageSystemAttributes: { AWSTraceHeader: string(trace) } });
  assert.ok(sent.MD5OfMessageSystemAttributes);
  const got = await receive(url, { ...SOON, ...EVERYTHING });
  want(1, got.length);
  const [m] = got;
  want([TEXT, sent.MessageId, sent.MD5OfMessageAttributes, '1', trace],
    [m.Body, m.MessageId, m.MD5OfMessageAttributes, m.Attributes.ApproximateReceiveCount, m.Attributes.AWSTraceHeader]);
  want(plain(given), plain(m.MessageAttributes));
  assert.ok(Math.abs(Date.now() - Number(m.Attributes.SentTimestamp)) < 60_000 && m.Attributes.SenderId);
  await remove(url, m);
  await remove(url, m); // twice is no error
  await send(url, 'some', { MessageAttributes: { 'a.x': string('1'), 'a.y': string('2'), b: string('3'), c: string('4') } });
  const [some] = await drain(url, 1, { MessageSystemAttributeNames: ['SentTimestamp'], MessageAttributeNames: ['a.*', 'c'] });
  want([['SentTimestamp'], ['a.x', 'a.y', 'c']], [Object.keys(some.Attributes), Object.keys(some.MessageAttributes).sort()]);
  const large = '飛'.repeat(1 << 18); // three bytes each
  await send(url, large);
  want([large], bodies(await drain(url, 1)));
  await refused('InvalidParameterValue', send(url, 'x'.repeat((1 << 20) + 1)));
  await refused('InvalidMessageContents', send(url, 'a\x01b'));
  await refused('InvalidParameterValue', send(url, 'x', { MessageAttributes: { n: string('12a', 'Number') } }));
}

async function batches() {
  const url = await queue('batch');
  const sent = await call('SendMessageBatch', { QueueUrl: url, Entries: [
    { Id: 'good', MessageBody: 'good' }, { Id: 'late', MessageBody: 'late', DelaySeconds: 901 }, { Id: 'fine', MessageBody: 'fine' }] });
  want([['fine', 'good'], [['late', true]]], [sent.Successful.map((e) => e.Id).sort(), sent.Failed.map((e) => [e.Id, e.SenderFault])]);
  const got = [];
  while (got.length < 2) {
    got.push(...await receive(url, SOON));
  }
  const [a, b] = got.map((m) => m.ReceiptHandle);
  const changed = await call('ChangeMessageVisibilityBatch', { QueueUrl: url, Entries: [
    { Id: 'a', ReceiptHandle: a, VisibilityTimeout: 60 }, { Id: 'b', ReceiptHandle: 'nonsense', VisibilityTimeout: 60 }] });
  want([['a'], [['b', 'ReceiptHandleIsInvalid', true]]], [changed.Successful.map((e) => e.Id), changed.Failed.map((e) => [e.Id, e.Code, e.SenderFault])]);
  const deleted = await call('DeleteMessageBatch', { QueueUrl: url, Entries: [{ Id: '0', ReceiptHandle: a }, { Id: '1', ReceiptHandle: 'nonsense' }, { Id: '2', ReceiptHandle: b }] });
  want([['0', '2'], [['1', 'ReceiptHandleIsInvalid']]], [deleted.Successful.map((e) => e.Id), deleted.Failed.map((e) => [e.Id, e.Code])]);
  want([], await receive(url));
  const batch = (ids, MessageBody = 'x') => call('SendMessageBatch', { QueueUrl: url, Entries: ids.map((Id) => ({ Id, MessageBody })) });
  await refused('EmptyBatchRequest', batch([]));
  await refused('TooManyEntriesInBatchRequest', batch([...'abcdefghijk']));
  await refused('BatchEntryIdsNotDistinct', batch(['a', 'b', 'a']));
  await refused('InvalidBatchEntryId', batch(['a b']));
  await refused('BatchRequestTooLong', batch(['a', 'b'], 'x'.repeat(600_000)));
}

async function longPoll() {
  const url = await queue('poll', { ReceiveMessageWaitTimeSeconds: '1' });
  let began = Date.now();
  want([], await receive(url)); // the queue says how long
  assert.ok(Date.now() - began > 900);
  const poll = receive(url, { WaitTimeSeconds: 20 });
  await sleep(200);
  began = Date.now();
  await send(url, 'now');
  want(['now'], bodies(await poll));
  assert.ok(Date.now() - began < 15_000);
}

async function manyWaiting() {
  const url = await queue('waiting', { VisibilityTimeout: '600' });
  const polls = Array.from({ length: WAITING }, () => receive(url, { WaitTimeSeconds: 6, MaxNumberOfMessages: 1 }));
  await sleep(1000);
  await send(url, 'one of you');
  want(['one of you'], bodies((await Promise.all(polls)).flat()));
}

async function visibility() {
  const url = await queue('visibility', { VisibilityTimeout: '1' });
  await send(url, 'again');
  const began = Date.now();
  const [first] = await receive(url, { ...SOON, ...EVERYTHING });
  const [second] = await receive(url, { ...SOON, ...EVERYTHING, VisibilityTimeout: 600 }); // after a second
  assert.ok(Date.now() - began > 900);
  want([], await receive(url));
  want(['1', '2'], [first, second].map((m) => m.Attributes.ApproximateReceiveCount));
  want(first.Attributes.ApproximateFirstReceiveTimestamp, second.Attributes.ApproximateFirstReceiveTimestamp);
  assert.notEqual(first.ReceiptHandle, second.ReceiptHandle);
  await change(url, second, 0);
  const [third] = await receive(url, { ...SOON, VisibilityTimeout: 600 });
  want('again', third.Body);
  await remove(url, third);
  await refused('InvalidParameterValue', change(url, third, 43201));
  await refused('ReceiptHandleIsInvalid', change(url, { ReceiptHandle: 'nonsense' }, 5));
}

async function deadLetters(n) {
  const dead = await queue(`${n}-dead`);
  const [arn] = await attributes(dead, 'QueueArn');
  const url = await queue(n, { VisibilityTimeout: '600', RedrivePolicy: JSON.stringify({ deadLetterTargetArn: arn, maxReceiveCount: 2 }) });
  return { url, dead, arn };
}

// fail receives n messages and gives them back, as often as they may be received.
async function fail(url, n) {
  for (let i = 0; i < 2 * n; i++) {
    const [m] = await receive(url, { ...SOON, MaxNumberOfMessages: 1 });
    await change(url, m, 0);
  }
  want([], await receive(url));
}

async function deadLetter() {
  const { url, dead } = await deadLetters('redrive');
  want([url], (await call('ListDeadLetterSourceQueues', { QueueUrl: dead })).queueUrls);
  const sent = await send(url, 'poison', { MessageAttributes: { k: string('v') } });
  await fail(url, 1);
  const [m] = await receive(dead, { ...SOON, ...EVERYTHING });
  want(['poison', sent.MessageId, { k: ['String', 'v', undefined] }], [m.Body, m.MessageId, plain(m.MessageAttributes)]);
  want(await attributes(url, 'QueueArn'), [m.Attributes.DeadLetterQueueSourceArn]);
}

async function move() {
  const { url, dead, arn } = await deadLetters('move');
  await send(url, 'one');
  await send(url, 'two');
  await fail(url, 2);
  await eventually(['2'], () => attributes(dead, 'ApproximateNumberOfMessages'));
  const { TaskHandle } = await call('StartMessageMoveTask', { SourceArn: arn });
  await eventually(['COMPLETED', 2], async () => {
    const [r] = (await call('ListMessageMoveTasks', { SourceArn: arn })).Results;
    return [r.Status, r.ApproximateNumberOfMessagesMoved];
  });
  want(['one', 'two'], bodies(await drain(url, 2)).sort());
  await refused('ResourceNotFoundException', call('StartMessageMoveTask', { SourceArn: `${arn}-not-there` }));
  await assert.rejects(call('CancelMessageMoveTask', { TaskHandle }));
}

async function delay() {
  const url = await queue('delay', { DelaySeconds: '1' });
  const began = Date.now();
  await send(url, 'as the queue says');
  await send(url, 'at once', { DelaySeconds: 0 });
  want(['at once'], bodies(await drain(url, 1)));
  want(['as the queue says'], bodies(await drain(url, 1)));
  assert.ok(Date.now() - began > 900);
}

async function purge() {
  const url = await queue('purge');
  await Promise.all(Array.from({ length: 30 }, () => send(url, 'x')));
  await receive(url);
  await call('PurgeQueue', { QueueUrl: url });
  await eventually(['0', '0'], () => attributes(url, 'ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'));
  want([], await receive(url));
  await refused('PurgeQueueInProgress', call('PurgeQueue', { QueueUrl: url }));
}

async function tags() {
  const { QueueUrl } = await call('CreateQueue', { QueueName: name('tags'), tags: { team: 'couriers' } });
  await call('TagQueue', { QueueUrl, Tags: { cost: 'none', 色: '赤' } });
  want({ team: 'couriers', cost: 'none', 色: '赤' }, (await call('ListQueueTags', { QueueUrl })).Tags);
  await call('UntagQueue', { QueueUrl, TagKeys: ['cost', 'team'] });
  want({ 色: '赤' }, (await call('ListQueueTags', { QueueUrl })).Tags);
}

async function permission() {
  const url = await queue('permission');
  await call('AddPermission', { QueueUrl: url, Label: 'let-them', AWSAccountIds: ['111122223333'], Actions: ['SendMessage'] });
  const [policy] = await attributes(url, 'Policy');
  want(['let-them'], JSON.parse(policy).Statement.map((s) => s.Sid));
  const off = () => call('RemovePermission', { QueueUrl: url, Label: 'let-them' });
  await off();
  await refused('InvalidParameterValue', off());
}

async function fifo() {
  const url = await queue('order.fifo', { FifoQueue: 'true', VisibilityTimeout: '600' });
  const text = (g, i) => `${g}${String(i).padStart(2, '0')}`;
  for (let i = 0; i < 20; i++) {
    const r = await call('SendMessageBatch', { QueueUrl: url, Entries: [...'abc'].map((g) => (
      { Id: g, MessageBody: text(g, i), MessageGroupId: g, MessageDeduplicationId: `${g}${i}` })) });
    want(3, r.Successful.length);
  }
  const [held] = await receive(url, { MaxNumberOfMessages: 1 }); // its group stands still, the others do not
  const group = held.Body[0];
  const others = bodies(await drain(url, 40));
  const numbered = (g, from = 0) => Array.from({ length: 20 - from }, (_, i) => text(g, from + i));
  for (const g of [...'abc'].filter((g) => g !== group)) {
    want(numbered(g), others.filter((b) => b[0] === g));
  }
  want([], await receive(url));
  await remove(url, held);
  const rest = await drain(url, 19, EVERYTHING);
  want(numbered(group, 1), bodies(rest));
  const numbers = rest.map((m) => BigInt(m.Attributes.SequenceNumber));
  assert.ok(numbers.every((n, i) => i === 0 || n > numbers[i - 1]));
  want([group, `${group}19`], [rest[18].Attributes.MessageGroupId, rest[18].Attributes.MessageDeduplicationId]);
  await refused('MissingParameter', send(url, 'x', { MessageDeduplicationId: 'x' }));
  await refused('InvalidParameterValue', queue('no-ending', { FifoQueue: 'true' }));
}

async function dedup() {
  const url = await queue('dedup.fifo', { FifoQueue: 'true', ContentBasedDeduplication: 'true' });
  const same = (more = {}) => send(url, 'same', { MessageGroupId: 'g', ...more });
  const [one, two, named] = [await same(), await same(), await same({ MessageDeduplicationId: 'own' })];
  want([one.MessageId, one.SequenceNumber], [two.MessageId, two.SequenceNumber]);
  assert.notEqual(one.MessageId, named.MessageId);
  const got = await receive(url, { ...SOON, ReceiveRequestAttemptId: 'try-1' });
  want(['same', 'same'], bodies(got));
  const again = await receive(url, { ReceiveRequestAttemptId: 'try-1' }); // whoever lost the answer gets it again
  want(got.map((m) => m.MessageId), again.map((m) => m.MessageId));
  for (const m of again) {
    await remove(url, m);
  }
  want(one.MessageId, (await same()).MessageId);
  want([], await receive(url));
  await refused('InvalidParameterValue', send(await queue('bare.fifo', { FifoQueue: 'true' }), 'x', { MessageGroupId: 'g' }));
}

async function errors() {
  const url = await queue('errors');
  const missing = `${url}-missing`;
  await refused('QueueDoesNotExist', call('GetQueueUrl', { QueueName: name('errors-missing') }));
  await refused('QueueDoesNotExist', send(missing, 'x'));
  await refused('QueueDoesNotExist', receive(missing));
  await refused('QueueDoesNotExist', call('DeleteQueue', { QueueUrl: missing }));
  await refused('ReceiptHandleIsInvalid', remove(url, { ReceiptHandle: 'nonsense' }));
  await refused('InvalidParameterValue', receive(url, { MaxNumberOfMessages: 11 }));
  await refused('InvalidParameterValue', receive(url, { WaitTimeSeconds: 21 }));
  await send(url, 'soon gone');
  const [m] = await drain(url, 1);
  await refused('InvalidParameterValue', change(url, m, 5));
}

async function where() {
  const url = await queue('where', { VisibilityTimeout: '600' });
  for (const [body, lang, priority] of [['a', 'ja', '1'], ['b', 'ja', '5'], ['c', 'en', '7'], ['d', 'ja', '9']]) {
    await send(url, body, { MessageAttributes: { lang: string(lang), priority: string(priority, 'Number') } });
  }
  const that = (...MessageAttributeNames) => receive(url, { MessageAttributeNames });
  const high = await that("hikyaku.where:lang = 'ja' and priority >= 3", 'lang');
  want([['b', 'd'], ['lang']], [bodies(high), Object.keys(high[0].MessageAttributes)]);
  want([], await that("hikyaku.where:lang = 'fr'"));
  want(['c'], bodies(await that("hikyaku.where:lang <> 'ja'")));
  await refused('InvalidParameterValue', that('hikyaku.where:lang = '));
}

async function shared() {
  const url = await queue('shared', { VisibilityTimeout: '600' });
  const post = async (path, ask) => {
    const answer = await fetch(`${HTTP_ENDPOINT}/default/${path}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(ask) });
    assert.ok(answer.ok, `${path}: ${answer.status}`);
    return answer.json();
  };
  const { id } = await post(`queues/${name('shared')}/messages`, { body: TEXT, attributes: { lang: 'ja', priority: 5, raw: { base64: 'AP8=' } } });
  const [m] = await drain(url, 1, { MessageAttributeNames: ['All', 'hikyaku.where:priority = 5'] });
  want([TEXT, id], [m.Body, m.MessageId]);
  want({ lang: ['String', 'ja', undefined], priority: ['Number', '5', undefined], raw: ['Binary', undefined, '00ff'] }, plain(m.MessageAttributes));
  await send(url, 'back', { MessageAttributes: { priority: string('7', 'Number') } });
  await send(url, 'other', { MessageAttributes: { priority: string('1', 'Number') } });
  const { messages } = await post(`queues/${name('shared')}/claim`, { where: 'priority > 6', max: 10 });
  want(['back'], messages.map((g) => g.body));
  await post('settle', { settlements: [{ token: messages[0].token, as: 'done' }] });
  want(['other'], bodies(await receive(url)));
}

async function signed() {
  const good = open(SIGNED_ENDPOINT, 'couriers', 'run-and-relay');
  const { QueueUrl } = await call('CreateQueue', { QueueName: name('signed') }, good);
  await call('SendMessage', { QueueUrl, MessageBody: TEXT }, good);
  want([TEXT], bodies((await call('ReceiveMessage', { QueueUrl }, good)).Messages));
  const as = (key, secret) => call('SendMessage', { QueueUrl, MessageBody: 'x' }, open(SIGNED_ENDPOINT, key, secret));
  await refused('SignatureDoesNotMatch', as('couriers', 'wrong'));
  await refused('InvalidClientTokenId', as('nobody', 'run-and-relay'));
  await refused('AccessDenied', as('reader', 'may-only-take'));
}

async function deletion() {
  const url = await queue('delete');
  await send(url, 'x');
  await call('DeleteQueue', { QueueUrl: url });
  await refused('QueueDoesNotExist', receive(url));
  want([], (await call('ListQueues', { QueueNamePrefix: name('delete') })).QueueUrls ?? []);
  await refused('QueueDeletedRecently', queue('delete'));
}

async function consumer() {
  const dead = await queue('consumer-dead');
  const deadLetterTargetArn = `arn:aws:sqs:us-east-1:${ACCOUNT}:${name('consumer-dead')}`;
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 2 });
  const url = await queue('consumer', { RedrivePolicy, VisibilityTimeout: '600' });
  for (const [n, body] of ['a', 'bad', 'c'].entries()) {
    await send(url, body, { MessageAttributes: { n: string(`${n}`, 'Number') } });
  }
  const [letters, got] = await framework.one(sqs, url, () => receive(dead, SOON));
  want([['bad'], ['a 1 0', 'bad 1 1', 'bad 2 1', 'c 1 2']], [bodies(letters), got]);
  const fifo = await queue('consumer.fifo', { FifoQueue: 'true' });
  for (let i = 0; i < 6; i++) {
    await send(fifo, `${i}`, { MessageGroupId: `${i % 2}`, MessageDeduplicationId: `${i}` });
  }
  want(['0', '2', '4', '1', '3', '5'], await framework.batches(sqs, fifo, 3, 6));
}

async function main() {
  const all = {
    queues, attributes: attributesOfQueues, 'send-receive': sendAndReceive, batches, 'long-poll': longPoll, 'many-waiting': manyWaiting, visibility, 'dead-letter': deadLetter, move, delay,
    purge, tags, permission, fifo, dedup, errors, where, shared, signed, delete: deletion,
    consumer,
  };
  for (const [n, body] of Object.entries(all)) {
    await check(n, body);
  }
  process.exit(failed ? 1 : 0);
}

main();
