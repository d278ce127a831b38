// Handlers in each form that the loader serves.
const fs = require('fs');
let count = 0;
exports.async = async (event, context) => ({ event, id: context.awsRequestId, name: context.functionName, count: ++count, left: context.getRemainingTimeInMillis() > 0 });
exports.callback = (event, context, callback) => callback(null, { called: event });
exports.late = (event, context, callback) => { callback(null, 'early'); setTimeout(() => console.log('behind the callback'), 20); };
exports.noWait = (event, context, callback) => {
  context.callbackWaitsForEmptyEventLoop = false;
  setInterval(() => {}, 1000);
  callback(null, 'at once');
};
exports.succeed = (event, context) => setTimeout(() => context.succeed('succeeded'), 5);
exports.fail = (event, context) => context.fail(new RangeError('too far'));
exports.done = (event, context) => context.done(null, 'done');
exports.nothing = () => {};
exports.promise = () => new Promise((resolve) => setTimeout(() => resolve({ kept: true }), 5));
exports.rejects = async () => { throw new TypeError('no such thing'); };
exports.throws = () => { throw new Error('thrown'); };
exports.callbackError = (event, context, callback) => callback('plain words');
exports.uncaught = (event, context, callback) => { setTimeout(() => { throw new Error('from nowhere'); }, 1); };
exports.circular = async () => { const a = {}; a.a = a; return a; };
exports.prints = async () => { console.log('hello %s', 'there'); console.error('two\nlines'); return 1; };
exports.any = (event, context, callback) => exports[event.do](event, context, callback);
exports.nested = { deep: { handler: async () => 'deep' } };
exports.notAFunction = 7;
exports.stream = awslambda.streamifyResponse(async (event, out) => {
  const html = awslambda.HttpResponseStream.from(out, { statusCode: 201 });
  html.write('one ');
  html.write('two');
  html.end();
});
exports.brokenStream = awslambda.streamifyResponse(async (event, out) => {
  out.write('begun');
  throw new Error('in the middle');
});
