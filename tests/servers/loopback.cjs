// Preloaded into a Node server that would listen on every interface, at a port to be known beforehand: it
// listens on a free port of this machine's own address instead, and says which.
//
//     NODE_OPTIONS=--require=…/loopback.cjs node server.js

const net = require("node:net");

const listen = net.Server.prototype.listen;

net.Server.prototype.listen = function (...args) {
  const callback = args.findLast((arg) => typeof arg === "function");
  this.once("listening", () => {
    process.stderr.write(`listening on http://127.0.0.1:${this.address().port}\n`);
  });
  return listen.call(this, { host: "127.0.0.1", port: 0 }, callback);
};
