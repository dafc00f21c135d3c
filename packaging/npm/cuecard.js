#!/usr/bin/env node
// `npx cuecard`: the binary in place of this process, as far as node can: its streams, its signals and its end.

import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { findBinary } from './index.js';

let binary;
try {
  binary = findBinary();
} catch (error) {
  console.error(`cuecard: ${error.message}`);
  process.exit(2);
}
const child = spawn(binary, process.argv.slice(2), { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  // Ctrl-C in a terminal reaches both; the binary decides what it means.
  process.on(signal, () => (signal === 'SIGINT' && process.stdin.isTTY) || child.kill(signal));
}
child.on('error', (error) => {
  console.error(`cuecard: ${error.message}`);
  process.exitCode = 2;
});
child.on('exit', (code, signal) => {
  process.exitCode = code ?? 128 + constants.signals[signal];
});
