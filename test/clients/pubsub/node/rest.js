// The clients that Google's library for Node has for where there is no gRPC: they speak JSON over HTTP.
'use strict';
const assert = require('node:assert/strict');
const { v1 } = require('@google-cloud/pubsub');

const [NOT_FOUND, INVALID_ARGUMENT] = [5, 3];

// rest does one call after another, each by its path of the REST form. It ends with nothing left.
module.exports = async function rest(address, project, refused) {
  const [host, port] = address.split(':');
  const options = { fallback: true, protocol: 'http', apiEndpoint: host, servicePath: host, port: Number(port),
    auth: { fetch: (url, how) => fetch(url, how), getClient: async () => ({}) } };
  const [topics, subscriptions, schemas] = ['PublisherClient', 'SubscriberClient', 'SchemaServiceClient']
    .map((name) => new v1[name](options));
  const root = `projects/${project}`;
  const [topic, subscription] = [`${root}/topics/rest`, `${root}/subscriptions/rest`];
  const [snapshot, schema] = [`${root}/snapshots/rest`, `${root}/schemas/rest`];
  const once = { autoPaginate: false };
  const value = async (call) => (await call)[0];

  const made = await value(topics.createTopic({ name: topic, labels: { a: 'b' }, messageRetentionDuration: { seconds: 3600, nanos: 5e8 } }));
  assert.deepEqual([made.state, made.messageRetentionDuration], ['ACTIVE', { seconds: '3600', nanos: 5e8 }]);
  const change = { topic: { name: topic, labels: { c: 'd' } }, updateMask: { paths: ['labels', 'message_retention_duration'] } };
  assert.equal((await value(topics.updateTopic(change))).messageRetentionDuration, null);
  assert.deepEqual((await value(topics.getTopic({ topic }))).labels, { c: 'd' });
  await subscriptions.createSubscription({ name: subscription, topic, ackDeadlineSeconds: 20, enableMessageOrdering: true });
  const policy = { minimumBackoff: { seconds: 1 }, maximumBackoff: { seconds: 5 } };
  await subscriptions.updateSubscription({ subscription: { name: subscription, retryPolicy: policy }, updateMask: { paths: ['retry_policy'] } });
  await subscriptions.createSnapshot({ name: snapshot, subscription, labels: { a: 'b' } });
  await subscriptions.updateSnapshot({ snapshot: { name: snapshot }, updateMask: { paths: ['labels'] } });
  assert.deepEqual((await value(subscriptions.getSnapshot({ snapshot }))).labels, {});

  const data = Buffer.from([0, 255, 1]);
  const { messageIds } = await value(topics.publish({ topic, messages: [{ data, attributes: { a: 'é' }, orderingKey: 'k/' }] }));
  for (const back of [{ snapshot }, { time: { seconds: 1577840523, nanos: 5 } }]) {
    const { receivedMessages } = await value(subscriptions.pull({ subscription, maxMessages: 5 }));
    assert.deepEqual(receivedMessages.map(({ message: m }) => [m.messageId, m.data, m.attributes, m.orderingKey]),
      [[messageIds[0], data, { a: 'é' }, 'k/']]);
    const ackIds = receivedMessages.map((m) => m.ackId);
    await subscriptions.modifyAckDeadline({ subscription, ackIds, ackDeadlineSeconds: 30 });
    await subscriptions.acknowledge({ subscription, ackIds });
    await subscriptions.seek({ subscription, ...back });
  }
  await subscriptions.modifyPushConfig({ subscription, pushConfig: { pushEndpoint: 'http://127.0.0.1:1/', noWrapper: { writeMetadata: true } } });
  assert.equal((await value(subscriptions.getSubscription({ subscription }))).pushConfig.noWrapper.writeMetadata, true);
  assert.deepEqual(await value(topics.listTopicSnapshots({ topic, pageSize: 1 }, once)), [snapshot]);
  assert.deepEqual(await value(topics.listTopicSubscriptions({ topic, pageSize: 1 }, once)), [subscription]);
  assert.equal((await value(topics.listTopics({ project: root, pageSize: 1 }, once))).length, 1);
  assert.equal((await value(subscriptions.listSnapshots({ project: root, pageSize: 1 }, once))).length, 1);
  assert.equal((await value(subscriptions.listSubscriptions({ project: root, pageSize: 1 }, once))).length, 1);

  const definition = (more) => `{"type": "record", "name": "R", "fields": [{"name": "a", "type": "string"}${more}]}`;
  const first = { type: 'AVRO', definition: definition('') };
  const { revisionId } = await value(schemas.createSchema({ parent: root, schemaId: 'rest', schema: first }));
  const more = definition(', {"name": "b", "type": "int", "default": 1}');
  const second = await value(schemas.commitSchema({ name: schema, schema: { name: schema, type: 'AVRO', definition: more } }));
  assert.equal((await value(schemas.listSchemas({ parent: root, view: 'FULL' }, once))).at(-1).definition, more);
  assert.equal((await value(schemas.listSchemaRevisions({ name: schema, view: 'BASIC' }, once))).length, 2);
  assert.equal((await value(schemas.rollbackSchema({ name: schema, revisionId }))).definition, first.definition);
  await schemas.deleteSchemaRevision({ name: `${schema}@${second.revisionId}` });
  assert.equal((await value(schemas.getSchema({ name: schema, view: 'FULL' }))).type, 'AVRO');
  await schemas.validateSchema({ parent: root, schema: first });
  await schemas.validateMessage({ parent: root, name: schema, message: Buffer.from('{"a": "x"}'), encoding: 'JSON' });
  await refused(INVALID_ARGUMENT, schemas.validateMessage({ parent: root, name: schema, message: Buffer.from('{"a": 5}'), encoding: 'JSON' }));
  await schemas.deleteSchema({ name: schema });

  const bindings = [{ role: 'roles/pubsub.viewer', members: ['user:a@example.com'] }];
  await topics.setIamPolicy({ resource: topic, policy: { bindings } });
  assert.equal((await value(topics.getIamPolicy({ resource: topic, options: { requestedPolicyVersion: 3 } }))).bindings[0].role, bindings[0].role);
  const permissions = ['pubsub.topics.publish'];
  assert.deepEqual((await value(topics.testIamPermissions({ resource: topic, permissions }))).permissions, permissions);

  await topics.detachSubscription({ subscription });
  assert.equal((await value(subscriptions.getSubscription({ subscription }))).detached, true);
  await subscriptions.deleteSnapshot({ snapshot }).catch((e) => assert.equal(e.code, NOT_FOUND)); // it went with its subscription
  await subscriptions.deleteSubscription({ subscription });
  await topics.deleteTopic({ topic });
  await refused(NOT_FOUND, topics.getTopic({ topic }));
  await Promise.all([topics, subscriptions, schemas].map((c) => c.close()));
};
