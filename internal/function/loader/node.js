// Runs a Lambda function in Node.js: asks the Runtime API for events, calls the handler, sends back what it gives. Started as
// `node node.js file.export` with the variables that every runtime finds. It serves handlers in each of their forms: asynchronous ones,
// those with a callback, those that use context.succeed, fail and done, and those that stream their answer.
'use strict';

const net = require('node:net');
const path = require('node:path');
const fs = require('node:fs');
const util = require('node:util');
const { Writable } = require('node:stream');
const { pathToFileURL } = require('node:url');

const streaming = Symbol.for('aws.lambda.runtime.handler.streaming');
const api = process.env.AWS_LAMBDA_RUNTIME_API;
const base = '/2018-06-01/runtime/';
const env = process.env;

// ---- The line to the Runtime API: one connection, one request at a time. ----

class Line {
  constructor(address) {
    const [host, port] = address.split(':');
    this.host = address;
    this.buffer = [];
    this.size = 0;
    this.socket = net.connect({ host, port: Number(port), noDelay: true });
    this.socket.on('data', (piece) => this.take(piece));
    this.socket.on('error', (e) => this.end(e));
    this.socket.on('close', () => this.end(new Error('the Runtime API has closed the connection')));
  }

  end(error) {
    if (this.waiting) {
      const { reject } = this.waiting;
      this.waiting = null;
      reject(error);
    }
  }

  take(piece) {
    this.buffer.push(piece);
    this.size += piece.length;
    if (!this.head) {
      const all = this.buffer.length === 1 ? piece : Buffer.concat(this.buffer);
      const end = all.indexOf('\r\n\r\n');
      this.buffer = [all];
      if (end < 0) return;
      const lines = all.toString('latin1', 0, end).split('\r\n');
      const headers = {};
      for (let i = 1; i < lines.length; i++) {
        const colon = lines[i].indexOf(':');
        headers[lines[i].slice(0, colon).toLowerCase()] = lines[i].slice(colon + 1).trim();
      }
      this.head = { status: Number(lines[0].slice(9, 12)), headers, start: end + 4, length: Number(headers['content-length'] || 0) };
    }
    const { head } = this;
    if (this.size < head.start + head.length) return;
    const all = this.buffer.length === 1 ? this.buffer[0] : Buffer.concat(this.buffer);
    this.buffer = [];
    this.size = 0;
    this.head = null;
    const { resolve } = this.waiting;
    this.waiting = null;
    resolve({ status: head.status, headers: head.headers, body: all.toString('utf8', head.start, head.start + head.length) });
  }

  answer() {
    return new Promise((resolve, reject) => { this.waiting = { resolve, reject }; });
  }

  ask(method, target, headers, body) {
    const answer = this.answer();
    let head = `${method} ${base}${target} HTTP/1.1\r\nHost: ${this.host}\r\n`;
    for (const name in headers) head += `${name}: ${String(headers[name]).replace(/[\r\n]+/g, ' ')}\r\n`;
    if (body === undefined) {
      this.socket.write(head + '\r\n', 'latin1');
    } else {
      this.socket.write(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    }
    return answer;
  }
}

// ---- What an invocation is told, and what it prints. ----

let current = null; // the invocation that runs
const line = new Line(api);

function stamp(level, args) {
  const text = util.format(...args).replace(/\n/g, '\r');
  process.stdout.write(`${new Date().toISOString()}\t${current ? current.id : 'undefined'}\t${level}\t${text}\n`);
}
for (const [name, level] of [['log', 'INFO'], ['info', 'INFO'], ['debug', 'DEBUG'], ['warn', 'WARN'], ['error', 'ERROR'], ['trace', 'TRACE']]) {
  console[name] = (...args) => stamp(level, args);
}

function describe(error) {
  if (error instanceof Error || util.types.isNativeError(error)) {
    return { errorType: error.name || 'Error', errorMessage: error.message || '', trace: (error.stack || '').split('\n') };
  }
  return { errorType: typeof error, errorMessage: error === undefined ? 'undefined' : String(error), trace: [] };
}

async function fail(target, error) {
  const what = describe(error);
  await line.ask('POST', target, { 'Content-Type': 'application/json', 'Lambda-Runtime-Function-Error-Type': what.errorType }, JSON.stringify(what));
}

// ---- Finding the handler. ----

function problem(type, message) {
  const e = new Error(message);
  e.name = type;
  e.stack = `${type}: ${message}`;
  return e;
}

async function load(root, name) {
  const slash = name.lastIndexOf('/') + 1;
  const dot = name.indexOf('.', slash);
  if (dot < 0 || name.includes('..')) throw problem('Runtime.MalformedHandlerName', `"${name}" is no handler: write it as file.export`);
  const file = name.slice(0, dot);
  const whole = path.resolve(root, file);
  const found = ['', '.js', '.mjs', '.cjs'].map((end) => whole + end).find((f) => fs.existsSync(f) && fs.statSync(f).isFile());
  if (!found) throw problem('Runtime.ImportModuleError', `Error: Cannot find module '${file}': there is no ${file}.js, .mjs or .cjs below ${root}`);
  let module;
  try {
    module = found.endsWith('.mjs') ? await import(pathToFileURL(found).href) : await requireOrImport(found);
  } catch (e) {
    if (e instanceof SyntaxError) throw problem('Runtime.UserCodeSyntaxError', `SyntaxError: ${e.message}`);
    if (e && e.code === 'MODULE_NOT_FOUND') throw problem('Runtime.ImportModuleError', `Error: ${e.message}`);
    throw e;
  }
  let handler = module;
  for (const part of name.slice(dot + 1).split('.')) handler = handler == null ? undefined : handler[part];
  if (handler === undefined) throw problem('Runtime.HandlerNotFound', `${name} is undefined or not exported`);
  if (typeof handler !== 'function') throw problem('Runtime.HandlerNotFound', `${name} is not a function`);
  return handler;
}

async function requireOrImport(file) {
  try {
    return require(file);
  } catch (e) {
    if (e && e.code === 'ERR_REQUIRE_ESM') return import(pathToFileURL(file).href);
    if (e instanceof SyntaxError && /import statement|Unexpected token 'export'|await is only valid/.test(e.message)) return import(pathToFileURL(file).href);
    throw e;
  }
}

// ---- One invocation. ----

function contextOf(headers, settle) {
  const deadline = Number(headers['lambda-runtime-deadline-ms']);
  const json = (text) => (text ? JSON.parse(text) : undefined);
  const context = {
    callbackWaitsForEmptyEventLoop: true,
    functionName: env.AWS_LAMBDA_FUNCTION_NAME,
    functionVersion: env.AWS_LAMBDA_FUNCTION_VERSION,
    memoryLimitInMB: env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    logGroupName: env.AWS_LAMBDA_LOG_GROUP_NAME,
    logStreamName: env.AWS_LAMBDA_LOG_STREAM_NAME,
    invokedFunctionArn: headers['lambda-runtime-invoked-function-arn'],
    awsRequestId: headers['lambda-runtime-aws-request-id'],
    clientContext: json(headers['lambda-runtime-client-context']),
    identity: json(headers['lambda-runtime-cognito-identity']),
    getRemainingTimeInMillis: () => deadline - Date.now(),
    succeed: (value) => settle(null, value),
    fail: (error) => settle(error === undefined || error === null ? 'handled' : error),
    done: (error, value) => settle(error, value),
  };
  return context;
}

// run calls the handler and resolves when it has given its answer, or failed.
function run(handler, event, headers) {
  return new Promise((resolve, reject) => {
    let over = false;
    let kept = null; // what the callback was told, for when nothing is left to do
    const settle = (error, value) => {
      if (over) return;
      over = true;
      current.idle = null;
      if (error === null || error === undefined) resolve(value);
      else reject(error);
    };
    const context = contextOf(headers, settle);
    current.stop = settle;
    current.idle = () => (kept ? settle(...kept) : settle(null, null));
    const callback = (error, value) => {
      if (over || kept) return;
      kept = [error, value];
      if (!context.callbackWaitsForEmptyEventLoop) settle(...kept);
    };
    try {
      const given = handler(event, context, callback);
      if (given && typeof given.then === 'function') given.then((value) => settle(null, value), (e) => settle(e === undefined || e === null ? new Error(String(e)) : e));
    } catch (e) {
      settle(e === undefined || e === null ? new Error(String(e)) : e);
    }
  });
}

async function serve(handler, headers, body) {
  const id = headers['lambda-runtime-aws-request-id'];
  const trace = headers['lambda-runtime-trace-id'];
  if (trace) env._X_AMZN_TRACE_ID = trace;
  else delete env._X_AMZN_TRACE_ID;
  const target = `invocation/${id}/`;
  current = { id };
  line.socket.unref(); // so that "nothing is left to do" can be noticed
  try {
    const event = JSON.parse(body);
    if (handler[streaming]) {
      await stream(handler, event, headers, target);
      return;
    }
    let value = await run(handler, event, headers);
    let text;
    try {
      text = JSON.stringify(value === undefined ? null : value);
      if (text === undefined) text = 'null';
    } catch (e) {
      throw problem('Runtime.MarshalError', `Unable to stringify response body: ${e.message}`);
    }
    line.socket.ref();
    await line.ask('POST', target + 'response', { 'Content-Type': 'application/json' }, text);
  } catch (e) {
    line.socket.ref();
    console.error('Invoke Error', JSON.stringify(describe(e)));
    await fail(target + 'error', e);
  } finally {
    line.socket.ref();
    current = null;
  }
}

// ---- Streamed answers. ----

class ResponseStream extends Writable {
  constructor(target) {
    super({ highWaterMark: 64 * 1024, decodeStrings: true });
    this.target = target;
    this.type = 'application/octet-stream';
    this.begun = false;
  }

  setContentType(type) { this.type = type; }

  begin() {
    if (this.begun) return;
    this.begun = true;
    this.reply = line.answer();
    line.socket.write(`POST ${base}${this.target}response HTTP/1.1\r\nHost: ${line.host}\r\nContent-Type: ${this.type}\r\n`
      + 'Lambda-Runtime-Function-Response-Mode: streaming\r\nTransfer-Encoding: chunked\r\n'
      + 'Trailer: Lambda-Runtime-Function-Error-Type, Lambda-Runtime-Function-Error-Body\r\n\r\n');
  }

  _write(piece, encoding, done) {
    this.begin();
    if (piece.length === 0) { done(); return; }
    line.socket.write(`${piece.length.toString(16)}\r\n`);
    line.socket.write(piece);
    line.socket.write('\r\n', () => done());
  }

  finish(error) {
    this.begin();
    let last = '0\r\n';
    if (error) {
      const what = describe(error);
      last += `Lambda-Runtime-Function-Error-Type: ${what.errorType}\r\n`
        + `Lambda-Runtime-Function-Error-Body: ${Buffer.from(JSON.stringify(what)).toString('base64')}\r\n`;
    }
    line.socket.write(last + '\r\n');
    return this.reply;
  }
}

async function stream(handler, event, headers, target) {
  const out = new ResponseStream(target);
  line.socket.ref();
  const finished = new Promise((resolve, reject) => { out.on('finish', resolve); out.on('error', reject); });
  finished.catch(() => {}); // who waits for it is told below
  let failure = null;
  try {
    await handler(event, out, contextOf(headers, () => {}));
    if (!out.writableEnded) out.end();
    await finished;
  } catch (e) {
    failure = e;
  }
  if (failure && !out.begun) throw failure;
  await out.finish(failure);
}

globalThis.awslambda = {
  streamifyResponse(handler) {
    handler[streaming] = 'response';
    return handler;
  },
  HttpResponseStream: class {
    static from(out, prelude) {
      out.setContentType('application/vnd.awslambda.http-integration-response');
      out.write(JSON.stringify(prelude || {}));
      out.write(Buffer.alloc(8));
      return out;
    }
  },
};

// ---- The whole. ----

process.on('beforeExit', () => {
  if (current && current.idle) current.idle();
});

async function die(error, kind, code) {
  try {
    const what = describe(error);
    if (kind) { what.reason = { ...what }; what.errorType = kind; }
    process.stdout.write(`${new Date().toISOString()}\t${current ? current.id : 'undefined'}\tERROR\tUncaught Exception\t${JSON.stringify(what)}\n`);
    if (line.waiting) line.waiting = null; // its answer is of no use any more
    const target = current ? `invocation/${current.id}/error` : 'init/error';
    const other = new Line(api);
    await other.ask('POST', target, { 'Content-Type': 'application/json', 'Lambda-Runtime-Function-Error-Type': what.errorType }, JSON.stringify(what));
  } finally {
    process.exit(code);
  }
}
process.on('uncaughtException', (e) => die(e, '', 129));
process.on('unhandledRejection', (e) => die(e, 'Runtime.UnhandledPromiseRejection', 128));

async function main() {
  let handler;
  try {
    handler = await load(env.LAMBDA_TASK_ROOT || process.cwd(), process.argv[2] || env._HANDLER);
  } catch (e) {
    console.error('Init Error', JSON.stringify(describe(e)));
    await fail('init/error', e);
    process.exit(1);
  }
  for (;;) {
    const { status, headers, body } = await line.ask('GET', 'invocation/next');
    if (status !== 200) throw new Error(`the Runtime API refuses: ${status} ${body}`);
    await serve(handler, headers, body);
  }
}

main().catch((e) => {
  process.stdout.write(`the loader of this function ends: ${e && e.stack}\n`);
  process.exit(1);
});
