// Greets whoever a message names. It gets up to ten messages at once, and says which of them failed: only those come again.
exports.handler = async (event) => {
  const failed = event.Records.filter((r) => !r.body.trim());
  const greetings = event.Records.filter((r) => r.body.trim()).map((r) => `hello ${r.body}`);
  console.log(`${greetings.length} greeted, ${failed.length} failed`);
  return { batchItemFailures: failed.map((r) => ({ itemIdentifier: r.messageId })), greetings };
};
