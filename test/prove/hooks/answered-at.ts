// Loaded into the server before it starts: each of its answers says when it began to be sent, by the clock that all processes
// of the machine share and that never jumps (CLOCK_MONOTONIC). So what was sent before the power was cut is told from what
// was sent later, whenever it was read.

import { ServerResponse } from 'node:http';
import { ANSWERED_AT } from './header.ts';

type WriteHead = (this: ServerResponse, ...args: unknown[]) => ServerResponse;
const writeHead = ServerResponse.prototype.writeHead as unknown as WriteHead;

ServerResponse.prototype.writeHead = function (this: ServerResponse, ...args: unknown[]): ServerResponse {
  this.setHeader(ANSWERED_AT, process.hrtime.bigint().toString());
  return writeHead.apply(this, args);
} as typeof ServerResponse.prototype.writeHead;
