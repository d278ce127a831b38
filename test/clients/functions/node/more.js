'use strict';
// What the tests ask of a function beside what the bench does.

class TooFar extends Error {
  constructor() {
    super('too far');
    this.name = 'TooFar';
  }
}

exports.fail = async () => {
  throw new TooFar();
};

exports.context = async (event, context) => ({
  id: context.awsRequestId,
  arn: context.invokedFunctionArn,
  left: context.getRemainingTimeInMillis() > 0,
});
