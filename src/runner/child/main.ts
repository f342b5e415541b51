// The child process: it loads one deployment, executes the runs that it is sent, and reports how they ended.

import { Socket } from 'node:net';
import { setImmediate } from 'node:timers';
import { captureConsole } from './api/console.ts';
import { provideCurrentStep } from './api/platform-step.ts';
import { confine } from './confine/confine.ts';
import { routeThroughEgress } from './confine/egress.ts';
import { detachEnvironment } from './confine/environment.ts';
import { exitProcess, guardProcess } from './confine/guard.ts';
import { harden } from './confine/harden.ts';
import { refuseHazards, refuseSignals } from './confine/refuse.ts';
import { provideTmp } from './confine/tmp.ts';
import { FrameReader, FrameWriter } from './frames.ts';
import { CONNECTION_LOST, type ToChild } from './protocol.ts';
import { Worker } from './worker.ts';

/** Not Node's IPC channel; protocol.ts says why. */
const PIPE_FD = 3;
/** The server is trusted; this bound only tells garbage from frames. */
const MAX_FRAME_BYTES = 2 ** 30;

const { close, egress, hasNetwork, limits, parent } = confine();
if (limits !== null) harden(limits, parent, close.length);
else refuseSignals();
refuseHazards();
detachEnvironment();
if (egress !== null) await routeThroughEgress(egress);
provideTmp();
const socket = new Socket({ fd: PIPE_FD });
const writer = new FrameWriter(
  (frame) => socket.write(frame),
  // Not in a microtask: steps that wait for something end one by one, and each end would be a write (24k instead of 31k
  // runs/s).
  (flush) => setImmediate(() => worker.endTurn(flush)),
  () => worker.completeFailed(),
);
const worker: Worker = new Worker(writer, hasNetwork);
const reader = new FrameReader(MAX_FRAME_BYTES, (messages, blobs) => worker.receive(messages as ToChild[], blobs));

captureConsole();
provideCurrentStep();
guardProcess((thrown, step) => worker.stray(thrown, step));
socket.on('data', (chunk: Buffer) => reader.push(chunk));
// The server is gone, or has closed the pipe.
socket.on('error', () => exitProcess(CONNECTION_LOST));
socket.on('close', () => exitProcess(CONNECTION_LOST));
