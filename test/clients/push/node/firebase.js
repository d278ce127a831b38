// Sends to FCM's sandbox with Google's own library for Node, firebase-admin, unchanged, as firebase.py does in Python. Its
// HTTP/2 asks no proxy, and so it is told to use HTTP/1.1; access tokens are fetched as HTTPS_PROXY says.
'use strict';

const path = require('node:path');
const { createRequire } = require('node:module');
const assert = require('node:assert/strict');

const [clients, account, good, gone] = process.argv.slice(2);
const load = createRequire(path.join(clients, 'index.js'));
const { initializeApp, cert } = load('firebase-admin/app');
const { getMessaging } = load('firebase-admin/messaging');
const { HttpsProxyAgent } = load('https-proxy-agent');

const httpAgent = new HttpsProxyAgent(process.env.HTTPS_PROXY);
const messaging = getMessaging(initializeApp({ credential: cert(account, httpAgent), httpAgent }));
messaging.enableLegacyHttpTransport();

const message = (to, more) => ({ notification: { title: 'News', body: 'hello' }, data: { id: '1' }, ...to, ...more });

const checks = {
  'a message is sent': async () => {
    assert.match(await messaging.send(message({ token: good })), /^projects\/news\/messages\//);
  },
  'every kind of settings is taken': async () => {
    await messaging.send(message({ token: good }, {
      android: { collapseKey: 'k', priority: 'high', ttl: 3600_000 },
      apns: { headers: { 'apns-priority': '5' } },
      webpush: { headers: { TTL: '60' } },
      fcmOptions: { analyticsLabel: 'winter' },
    }));
  },
  'topics and conditions are targets': async () => {
    await messaging.send(message({ topic: 'weather' }));
    await messaging.send(message({ condition: "'weather' in topics && 'news' in topics" }));
  },
  'a dry run sends nothing': async () => {
    await messaging.send(message({ token: good }), true);
  },
  'a device that is gone is not registered': async () => {
    await assert.rejects(messaging.send(message({ token: gone })),
      { code: 'messaging/registration-token-not-registered' });
  },
  'a token that is none is an invalid argument': async () => {
    await assert.rejects(messaging.send(message({ token: 'none' })), { code: 'messaging/invalid-argument' });
  },
  'many are sent at once': async () => {
    const many = Array.from({ length: 100 }, (_, i) => message({ token: i % 10 === 0 ? gone : good }));
    const sent = await messaging.sendEach(many);
    assert.deepEqual([sent.successCount, sent.failureCount], [90, 10]);
  },
  'devices join a topic and leave it': async () => {
    for (const change of ['subscribeToTopic', 'unsubscribeFromTopic']) {
      const changed = await messaging[change]([good, 'none', gone], 'weather');
      assert.deepEqual([changed.successCount, changed.failureCount, changed.errors[0].index], [2, 1, 1]);
    }
  },
};

(async () => {
  for (const [check, run] of Object.entries(checks)) {
    let wrong = '';
    try {
      await run();
    } catch (e) {
      wrong = e.stack ?? String(e);
    }
    console.log(JSON.stringify({ check, wrong }));
  }
  process.exit(0); // idle connections would keep it
})();
