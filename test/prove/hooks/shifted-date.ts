// Loaded into the server before it starts: its wall clock is the machine's, set off by the milliseconds that a file says, and
// the file may change at any moment. As when somebody sets the machine's clock: what measures durations goes on as before
// (CLOCK_MONOTONIC: hrtime, performance.now, timers). The processes that run code keep the right time.

import { readFileSync } from 'node:fs';
import { OFFSET_FILE } from './shifted-clock.ts';

const LOOKED_EVERY_MS = 20;

const path = process.env[OFFSET_FILE] ?? '';
const Real = Date;
let offsetMs = 0;

function look(): void {
  try {
    offsetMs = Number(readFileSync(path, 'utf8'));
  } catch {
    // no file yet: the right time
  }
}

const now = (): number => Real.now() + offsetMs;

globalThis.Date = new Proxy(Real, {
  construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
  apply: () => new Real(now()).toString(),
  get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
});

look();
setInterval(look, LOOKED_EVERY_MS).unref();
