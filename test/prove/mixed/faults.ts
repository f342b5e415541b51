// Carries out the faults of a plan. Whatever it breaks it puts right again, and every server runs when it is over.

import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Cutter } from '../../support/postgres/cut.ts';
import type { PostgresServer } from '../../support/postgres/server.ts';
import type { Findings } from '../findings.ts';
import type { ShiftedClock } from '../hooks/shifted-clock.ts';
import { createDice } from '../random.ts';
import type { Server } from '../server.ts';
import type { Fault, FaultKind } from './plan.ts';
import type { Receivers } from './receivers.ts';

export interface Ground {
  readonly servers: readonly Server[];
  /** Before the database, one for each server; none: each has a file of its own. */
  readonly cutters: readonly Cutter[];
  readonly database: PostgresServer | null;
  /** One for each server. */
  readonly clocks: readonly ShiftedClock[];
  /** Where the store lies; none: it is not to be filled up. */
  readonly disk: FullDisk | null;
  readonly receivers: Receivers;
  readonly wrong: Findings;
  /** SIGKILLs of servers so far. */
  kills: number;
  /** The machine's load averages, one after each fault. */
  readonly loads: number[];
}

export interface FullDisk {
  fill(): Promise<void>;
  relieve(): Promise<void>;
}

type Act = (ground: Ground, fault: Fault) => Promise<void>;

const START_DEADLINE_MS = 90_000;
const POLL_MS = 200;
const CALLERS = 60;
/** Until the next room that comes free is taken, too. */
const REFILLED_MS = 250;
/** Until a server has looked at its clock. */
const CLOCK_SEEN_MS = 100;

export async function carryOut(ground: Ground, fault: Fault): Promise<void> {
  await pause(fault.beforeMs);
  await ACTS[fault.kind](ground, fault);
  await allRun(ground);
}

/** Starts those that do not run, as a supervisor does, until all do. */
export async function allRun({ servers }: Ground): Promise<void> {
  const deadline = Date.now() + START_DEADLINE_MS;
  await Promise.all(
    servers.map(async (server) => {
      while (!server.isRunning) {
        const isUp = await server.start().ready.then(
          () => true,
          () => false,
        );
        if (!isUp && Date.now() > deadline) throw new Error(`${server.name} did not start: ${server.lastLines.at(-1)}`);
      }
    }),
  );
}

/** The clocks that were wrong are there again where they stood at the latest: what was due by them is due. */
export async function setClocksRight({ clocks }: Ground): Promise<void> {
  for (const clock of clocks) clock.setToLatest();
  await pause(CLOCK_SEEN_MS);
}

function oneOf({ servers }: Ground, fault: Fault): Server {
  return pick(servers, fault);
}

function pick<T>(among: readonly T[], { victim }: Fault): T {
  return among[Math.floor(victim * among.length)] as T;
}

function networkOf(ground: Ground, { victim, isForAll }: Fault): readonly Cutter[] {
  const { cutters } = ground;
  return isForAll ? cutters : cutters.slice(Math.floor(victim * cutters.length)).slice(0, 1);
}

async function kill(ground: Ground, server: Server): Promise<void> {
  if (!server.isRunning) return;
  ground.kills++;
  await server.kill();
}

async function terminate({ wrong }: Ground, server: Server): Promise<void> {
  const { code, signal } = await server.terminate();
  wrong.equal('exit code after SIGTERM', code ?? signal, 0);
}

/** One kind of trouble in the network, until it is over. */
function trouble(begin: (cutter: Cutter, fault: Fault) => void): Act {
  return async (ground, fault) => {
    const cutters = networkOf(ground, fault);
    for (const cutter of cutters) begin(cutter, fault);
    await pause(fault.lastsMs);
    for (const cutter of cutters) cutter.resume();
  };
}

/** The server's clock is set by so much, for good or for a while. */
function jump(direction: 1 | -1): Act {
  return async ({ clocks }, fault) => {
    const clock = pick(clocks, fault);
    const before = clock.offsetMs;
    clock.set(before + direction * fault.jumpMs);
    await pause(fault.lastsMs);
    if (!fault.stays) clock.set(before);
  };
}

/** Now and then the server is killed while there is no room, and starts when there is. */
async function fillDisk(ground: Ground, fault: Fault): Promise<void> {
  const { disk } = ground;
  if (!disk) throw new Error('there is no disk to fill up');
  let isOver = false;
  const filled = (async (): Promise<void> => {
    for (; !isOver; await pause(REFILLED_MS)) await disk.fill();
  })();
  await pause(fault.lastsMs);
  if (fault.stays) await kill(ground, oneOf(ground, fault));
  isOver = true;
  await filled;
  await disk.relieve();
}

function restart(how: 'fast' | 'immediate'): Act {
  return async ({ database }, { lastsMs }) => {
    if (!database) return;
    await database.stop(how);
    await pause(lastsMs);
    await isUp(database);
  };
}

/** On a machine that is busy a start takes its time, and one that did not end in time may still come. */
async function isUp(database: PostgresServer): Promise<void> {
  const deadline = Date.now() + START_DEADLINE_MS;
  for (;;) {
    await database.start().catch(() => undefined);
    try {
      await database.databases.query('SELECT 1');
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await pause(POLL_MS);
    }
  }
}

const ACTS: Readonly<Record<FaultKind, Act>> = {
  'kill one': (ground, fault) => kill(ground, oneOf(ground, fault)),
  'kill all': async (ground) => {
    await Promise.all(ground.servers.map((server) => kill(ground, server)));
  },
  'kill at start': async (ground, fault) => {
    const server = oneOf(ground, fault);
    await kill(ground, server);
    server.start();
    await pause(fault.lastsMs / 4);
    await kill(ground, server);
  },
  'kill while it stops': async (ground, fault) => {
    const server = oneOf(ground, fault);
    const stopped = server.terminate();
    await pause(fault.lastsMs / 10);
    await kill(ground, server);
    await stopped;
  },
  'terminate one': (ground, fault) => terminate(ground, oneOf(ground, fault)),
  'terminate all': async (ground) => {
    await Promise.all(ground.servers.map((server) => terminate(ground, server)));
  },
  'stand still': async (ground, fault) => {
    const server = oneOf(ground, fault);
    server.pause();
    await pause(fault.lastsMs);
    server.resume();
  },
  'kill children': async (ground, fault) => {
    for (const pid of childrenOf(oneOf(ground, fault).pid)) signalQuietly(pid, 'SIGKILL');
  },
  'children stand still': async (ground, fault) => {
    const children = childrenOf(oneOf(ground, fault).pid);
    for (const pid of children) signalQuietly(pid, 'SIGSTOP');
    await pause(fault.lastsMs);
    for (const pid of children) signalQuietly(pid, 'SIGCONT');
  },
  'clock forward': jump(1),
  'clock back': jump(-1),
  'disk full': fillDisk,
  'receivers away': async ({ receivers }, { lastsMs }) => {
    receivers.setAway(true);
    await pause(lastsMs);
    receivers.setAway(false);
  },
  'callers leave': async (ground, fault) => {
    const { hostname, port } = new URL(oneOf(ground, fault).url);
    const sockets = Array.from({ length: CALLERS }, () => {
      const socket = connect(Number(port), hostname).on('error', () => undefined);
      socket.write('POST /e/nobody HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\n{"half":');
      return socket;
    });
    await pause(fault.lastsMs / 5);
    for (const socket of sockets) socket.resetAndDestroy();
  },
  reset: trouble((cutter) => cutter.cutAll()),
  hang: trouble((cutter) => cutter.hold()),
  'half-open': trouble((cutter, { lastsMs }) => cutter.halfOpen(lastsMs)),
  refuse: trouble((cutter) => cutter.refuse()),
  silence: trouble((cutter) => cutter.mute()),
  'partly silent': trouble((cutter, { victim }) => cutter.muteSome(0.5, createDice(victim * 2 ** 32).next)),
  'database restarted fast': restart('fast'),
  'database restarted immediate': restart('immediate'),
};

/** Processes that a server has started: those that run code, and those that bundle it. */
function childrenOf(parent: number): number[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const [, ppid] = (readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1) as string).split(' ');
      return Number(ppid) === parent ? [Number(pid)] : [];
    } catch {
      return [];
    }
  });
}

function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it has ended by itself
  }
}
