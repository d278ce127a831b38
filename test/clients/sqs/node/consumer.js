// What sqs-consumer, a framework that many programs for Node receive with, does with the door.
'use strict';
const { once } = require('node:events');
const { Consumer } = require('sqs-consumer');

// consume lets a consumer work until something has come true, and ends it. handler is one of sqs-consumer's.
async function consume(sqs, queueUrl, batchSize, handler, until) {
  const consumer = Consumer.create({
    sqs, queueUrl, batchSize, waitTimeSeconds: 20, suppressFifoWarning: true, terminateVisibilityTimeout: true,
    messageAttributeNames: ['All'], messageSystemAttributeNames: ['All'], ...handler,
  });
  const failed = new Promise((_, reject) => consumer.on('error', reject));
  consumer.on('processing_error', () => {}); // a handler that throws
  const stopped = once(consumer, 'stopped');
  consumer.start();
  try {
    return await Promise.race([until(consumer), failed]);
  } finally {
    consumer.stop({ abort: true });
    await stopped;
  }
}

// one lets a handler of single messages work until something has come true. The message "bad" fails each time.
async function one(sqs, url, until) {
  const got = [];
  const handleMessage = async (m) => {
    got.push(`${m.Body} ${m.Attributes.ApproximateReceiveCount} ${m.MessageAttributes.n.StringValue}`);
    if (m.Body === 'bad') {
      throw new Error('it is refused');
    }
    return m;
  };
  return [await consume(sqs, url, 10, { handleMessage }, until), got.sort()];
}

// batches lets a handler of batches work until so many messages have come and are deleted.
async function batches(sqs, url, most, count) {
  const got = [];
  const handleMessageBatch = async (ms) => {
    got.push(...ms.map((m) => m.Body));
    return ms;
  };
  await consume(sqs, url, most, { handleMessageBatch }, (consumer) => new Promise((resolve) => {
    consumer.on('response_processed', () => got.length === count && resolve());
  }));
  return got;
}

module.exports = { one, batches };
