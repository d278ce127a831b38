'use strict';
// The function of the report on DynamoDB in JavaScript: it prints its event and reads one item; and the one that leaves that to a program in Go.

const { execFile } = require('node:child_process');
const path = require('node:path');

// Only who reads by itself loads the client.
const through = /\.through$/.test(process.env._HANDLER || '');
const sdk = through ? null : require('@aws-sdk/client-dynamodb');

function connect() {
  return new sdk.DynamoDBClient({
    region: 'us-east-1',
    endpoint: process.env.DYNAMODB,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
}

// Made in the handler, or before the first call.
const kept = /\.read2$/.test(process.env._HANDLER || '') ? connect() : null;

exports.read1 = exports.read2 = async (event) => {
  for (const [name, value] of Object.entries(event)) console.log(`${name}: ${value}`);
  const client = kept || connect();
  const found = await client.send(new sdk.GetItemCommand({ TableName: 'things', Key: { id: { S: '1' } } }));
  console.log(`Found: ${found.Item.name.S}`);
  return 'SUCCESS';
};

exports.through = (event, context, callback) => {
  execFile(path.join(__dirname, 'read'), [JSON.stringify(event)], (error, stdout) => {
    process.stdout.write(stdout);
    callback(error, 'SUCCESS');
  });
};
