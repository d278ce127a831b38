// Speaks to a running hikyaku with @aws-sdk/client-lambda and prints a line a check: "ok NAME" or "not ok NAME: why".
// The checks and the variables that say where the server is: ../README.md.
"use strict";

const assert = require("node:assert");
const zlib = require("node:zlib");
const {
  LambdaClient, CreateFunctionCommand, InvokeCommand, InvokeWithResponseStreamCommand, PublishVersionCommand, UpdateFunctionCodeCommand, CreateAliasCommand,
  DeleteFunctionCommand, GetFunctionCommand, waitUntilFunctionActiveV2,
} = require("@aws-sdk/client-lambda");

const NAME = process.env.CLIENT_PREFIX + "-f";
const ROLE = "arn:aws:iam::000000000000:role/any";
const PROGRAM = `
exports.handler = async (event, context) => {
  if (event.fail) throw new RangeError(event.fail);
  return { event, said: "%s", version: context.functionVersion, greeting: process.env.GREETING };
};
exports.stream = awslambda.streamifyResponse(async (event, out) => {
  for (const piece of event.pieces) { out.write(piece); await new Promise((done) => setImmediate(done)); }
  out.end();
});
`;

// packed is an archive with one stored file in it: Node has no library for it.
function packed(said, name = "index.js") {
  const body = Buffer.from(PROGRAM.replace("%s", said));
  const path = Buffer.from(name);
  const common = Buffer.alloc(26);
  common.writeUInt16LE(20, 0);
  common.writeUInt16LE(33, 8); // the first of January 1980
  common.writeUInt32LE(zlib.crc32 ? zlib.crc32(body) : crc32(body), 10);
  common.writeUInt32LE(body.length, 14);
  common.writeUInt32LE(body.length, 18);
  common.writeUInt16LE(path.length, 22);
  const local = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), common, path, body]);
  const entry = Buffer.concat([Buffer.from("PK\x01\x02\x14\x03", "latin1"), common, Buffer.alloc(14), path]);
  entry.writeUInt32LE((0o100644 << 16) >>> 0, 38);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(entry.length, 12);
  end.writeUInt32LE(local.length, 16);
  return Buffer.concat([local, entry, end]);
}

function crc32(data) {
  let sum = ~0;
  for (const byte of data) {
    sum ^= byte;
    for (let i = 0; i < 8; i++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}

function client(endpoint, accessKeyId, secretAccessKey) {
  return new LambdaClient({ endpoint, region: "us-east-1", credentials: { accessKeyId, secretAccessKey }, maxAttempts: 1 });
}

const functions = client(process.env.LAMBDA_ENDPOINT, "any", "thing");
const text = (payload) => Buffer.from(payload).toString();
const create = (FunctionName, ZipFile, more = {}) =>
  new CreateFunctionCommand({ FunctionName, Runtime: "nodejs20.x", Role: ROLE, Handler: "index.handler", Timeout: 60, Code: { ZipFile }, ...more });

async function invoke(event, more = {}) {
  const answer = await functions.send(new InvokeCommand({ FunctionName: NAME, Payload: JSON.stringify(event), ...more }));
  return { ...answer, out: JSON.parse(text(answer.Payload)) };
}

const refused = (name, work) => assert.rejects(work, (e) => { assert.strictEqual(e.name, name); return true; });

const checks = {
  deploy: async () => {
    const made = await functions.send(create(NAME, packed("one"), { Environment: { Variables: { GREETING: "こんにちは" } } }));
    assert.strictEqual(made.FunctionName, NAME);
    await waitUntilFunctionActiveV2({ client: functions, maxWaitTime: 60 }, { FunctionName: NAME });
    const got = await functions.send(new GetFunctionCommand({ FunctionName: made.FunctionArn }));
    assert.strictEqual(got.Configuration.CodeSha256, made.CodeSha256);
  },
  invoke: async () => {
    const got = await invoke({ 色: "赤" }, { LogType: "Tail" });
    assert.deepStrictEqual([got.StatusCode, got.out], [200, { event: { 色: "赤" }, said: "one", version: "$LATEST", greeting: "こんにちは" }]);
    assert.match(Buffer.from(got.LogResult, "base64").toString(), /REPORT RequestId: /);
    const failed = await invoke({ fail: "on purpose" });
    assert.deepStrictEqual([failed.FunctionError, failed.out.errorType], ["Unhandled", "RangeError"]);
    assert.strictEqual((await functions.send(new InvokeCommand({ FunctionName: NAME, InvocationType: "DryRun" }))).StatusCode, 204);
    assert.strictEqual((await functions.send(new InvokeCommand({ FunctionName: NAME, InvocationType: "Event", Payload: "{}" }))).StatusCode, 202);
  },
  stream: async () => {
    const name = NAME + "-stream";
    await functions.send(create(name, packed("streams"), { Handler: "index.stream" }));
    const answer = await functions.send(new InvokeWithResponseStreamCommand({ FunctionName: name, Payload: JSON.stringify({ pieces: ["一", "two", "three"] }) }));
    const kinds = [];
    let got = "";
    for await (const event of answer.EventStream) {
      kinds.push(Object.keys(event)[0]);
      if (event.PayloadChunk) got += text(event.PayloadChunk.Payload);
    }
    assert.deepStrictEqual([got, kinds.at(-1)], ["一twothree", "InvokeComplete"]);
    await functions.send(new DeleteFunctionCommand({ FunctionName: name }));
  },
  versions: async () => {
    assert.strictEqual((await functions.send(new PublishVersionCommand({ FunctionName: NAME }))).Version, "1");
    await functions.send(new UpdateFunctionCodeCommand({ FunctionName: NAME, ZipFile: packed("two") }));
    await functions.send(new CreateAliasCommand({ FunctionName: NAME, Name: "live", FunctionVersion: "1" }));
    assert.deepStrictEqual([(await invoke({}, { Qualifier: "live" })).out.said, (await invoke({})).out.said], ["one", "two"]);
  },
  errors: async () => {
    const other = NAME + "-bad";
    await refused("ResourceNotFoundException", functions.send(new InvokeCommand({ FunctionName: other })));
    await refused("InvalidParameterValueException", functions.send(create(other, packed("x", "../index.js"))));
    await refused("InvalidParameterValueException", functions.send(create(other, Buffer.from("no archive"))));
    await refused("ResourceConflictException", functions.send(create(NAME, packed("x"))));
  },
  signed: async () => {
    const good = client(process.env.SIGNED_ENDPOINT, "couriers", "run-and-relay");
    await good.send(create(NAME, packed("signed")));
    assert.strictEqual(JSON.parse(text((await good.send(new InvokeCommand({ FunctionName: NAME, Payload: "{}" }))).Payload)).said, "signed");
    for (const [key, secret, error] of [["couriers", "wrong", "InvalidSignatureException"], ["nobody", "run-and-relay", "UnrecognizedClientException"], ["reader", "may-only-take", "AccessDeniedException"]]) {
      await refused(error, client(process.env.SIGNED_ENDPOINT, key, secret).send(new InvokeCommand({ FunctionName: NAME })));
    }
  },
  delete: async () => {
    await functions.send(new DeleteFunctionCommand({ FunctionName: NAME }));
    await refused("ResourceNotFoundException", functions.send(new InvokeCommand({ FunctionName: NAME })));
  },
};

(async () => {
  for (const [name, body] of Object.entries(checks)) {
    try {
      await body();
      console.log(`ok ${name}`);
    } catch (e) {
      process.exitCode = 1;
      console.log(`not ok ${name}: ${String(e && e.message || e).replace(/\s+/g, " ").slice(0, 500)}`);
    }
  }
})();
