// A queue feeds a function: node app.js FOLDER OUT writes the template and its assets, as `cdk synth` does.
const { App, Stack, Duration } = require('aws-cdk-lib');
const lambda = require('aws-cdk-lib/aws-lambda');
const sqs = require('aws-cdk-lib/aws-sqs');
const iam = require('aws-cdk-lib/aws-iam');
const { SqsEventSource } = require('aws-cdk-lib/aws-lambda-event-sources');
const path = require('path');

const [, , folder, outdir] = process.argv;
const app = new App({ outdir });
const stack = new Stack(app, 'Parcels');
const dead = new sqs.Queue(stack, 'Dead');
const parcels = new sqs.Queue(stack, 'Parcels', {
  visibilityTimeout: Duration.seconds(60), deadLetterQueue: { queue: dead, maxReceiveCount: 2 } });
const words = new lambda.LayerVersion(stack, 'Words', {
  code: lambda.Code.fromAsset(path.join(folder, 'layer')), compatibleRuntimes: [lambda.Runtime.PYTHON_3_11] });
const courier = new lambda.Function(stack, 'Courier', {
  functionName: 'cdk-courier', runtime: lambda.Runtime.PYTHON_3_11, handler: 'app.handler',
  code: lambda.Code.fromAsset(path.join(folder, 'code')), layers: [words], timeout: Duration.seconds(30),
  deadLetterQueue: dead, retryAttempts: 1, environment: { GREETING: process.env.GREETING } });
courier.addEventSource(new SqsEventSource(parcels, { batchSize: 5, reportBatchItemFailures: true }));
const live = new lambda.Alias(stack, 'Live', { aliasName: 'live', version: courier.currentVersion });
live.grantInvoke(new iam.ServicePrincipal('events.amazonaws.com'));
app.synth();
