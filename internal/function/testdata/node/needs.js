require('no-such-module'); exports.handler = () => {};
