'use strict';
// The functions of the bench in JavaScript: those of a field report on AWS Lambda, and one that answers its event.
// WAIT_MS says how long those that wait do, INIT_MS how long the start takes, N which Fibonacci number is wanted, WARM=no that it is wanted once.

const os = require('os');

const origin = Date.now() - Math.round(process.uptime() * 1000);
const handler = process.env._HANDLER || '';
let counter = 0;

// rest holds up the program, as a constructor that works does.
function rest(ms) {
  if (ms > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function wait() {
  console.log(`Before wait: ${Date.now() - origin}`);
  rest(Number(process.env.WAIT_MS || 10000));
  console.log(`After wait: ${Date.now() - origin}`);
}

// Where the report's classes have their constructor.
if (/\.wait[23]$/.test(handler)) wait();
if (/\.nap$/.test(handler)) rest(Number(process.env.INIT_MS || 0));

exports.echo = async (event) => event;

exports.pid = async () => {
  counter++;
  console.log(`Name: ${process.pid}@${os.hostname()}`);
  console.log(`Count: ${counter}`);
  return 'SUCCESS';
};

exports.stacktrace = async () => {
  console.log(new Error('For stack trace').stack);
  for (const kind of process.getActiveResourcesInfo()) console.log(`"${kind}"`);
  return 'SUCCESS';
};

exports.wait1 = async () => {
  wait();
  return 'SUCCESS';
};

exports.wait2 = exports.wait3 = async () => {
  console.log(`Called: ${Date.now() - origin}`);
  return 'SUCCESS';
};

exports.nap = (event, context, callback) => setTimeout(() => callback(null, 'SUCCESS'), event);

function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

// The work is done twice, as in the report's benchmark: once to warm up, unless it is told not to.
exports.fib = async () => {
  const n = Number(process.env.N);
  if (process.env.WARM !== 'no') fib(n);
  const began = process.hrtime.bigint();
  const result = fib(n);
  console.log(`Took: ${(process.hrtime.bigint() - began) / 1000000n}`);
  return result;
};
