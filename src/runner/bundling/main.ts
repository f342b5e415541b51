// The program of the process that bundles. It reads users' code, and runs none of it.
//
// The bundler is a separate program that esbuild's package starts once: when the bundler has ended, this process ends
// too, and the server starts another one. Both end when the server is gone.
//
// Both have a filter of system calls, installed before the bundler was started: the filter of code, plus what starting
// the bundler takes. After that, this process installs the filter of code and can start nothing more.

import { accessSync, constants } from 'node:fs';
import { Socket } from 'node:net';
import { transform } from 'esbuild';
import { closeAll, switchTo } from '../child/confine/confine.ts';
import { giveUp, installFilter, limit, openSystem } from '../child/confine/harden.ts';
import { encodeFrame, FrameReader } from '../child/frames.ts';
import { bundleStep } from './bundle.ts';
import { bundleFile } from './bundle-file.ts';
import {
  BUNDLER_GONE,
  type BundleRequestMessage,
  type BundleResponse,
  type BundleResponseMessage,
  type BundlerSetup,
  CANNOT_READ,
} from './protocol.ts';

const PIPE_FD = 3;
/** The server is trusted; this bound only tells garbage from frames. */
const MAX_FRAME_BYTES = 2 ** 28;

function confine({ close, user, needs }: BundlerSetup): void {
  closeAll(close);
  if (user !== null) switchTo(user);
  for (const path of needs) {
    try {
      accessSync(path, constants.R_OK);
    } catch {
      process.stderr.write(`user ${process.getuid?.()} may not read ${path}\n`);
      process.exit(CANNOT_READ);
    }
  }
}

/** Hardens the process; `narrow` gives up more, for good. Null: the process cannot harden itself here. */
function hardened({ limits, parent }: BundlerSetup): { narrow(): void } | null {
  if (limits === null) return null;
  const system = openSystem();
  limit(system, limits, parent);
  installFilter(system, { stage: 'bundling', pid: process.pid });
  const narrow = (): void => {
    // The bundler is in this process's group; ending the group ends it.
    installFilter(system, { stage: 'run', pid: process.pid, mayEndGroup: true });
    system.close();
    if (process.permission) giveUp(system.ffi);
  };
  return { narrow };
}

function endAll(): never {
  // The group contains the bundler, so that the signal ends both.
  process.kill(-process.pid, 'SIGKILL');
  process.exit(0);
}

async function handle({ request }: BundleRequestMessage): Promise<BundleResponse> {
  if (request.kind === 'file') return await bundleFile(request.file, request.packages);
  return await bundleStep(request.source, request.packagesDir, request.outside);
}

function frameOf(id: number, answer: BundleResponse): Buffer {
  if (!('bundle' in answer)) return encodeFrame([{ id, answer } satisfies BundleResponseMessage], []);
  const { bundle, sourceMap, ...head } = answer;
  const blobs = [Buffer.from(bundle), Buffer.from(sourceMap)] as const;
  const message: BundleResponseMessage = { id, answer: head, bytes: [blobs[0].byteLength, blobs[1].byteLength] };
  return encodeFrame([message], blobs);
}

const setup = JSON.parse(process.argv[2] ?? '') as BundlerSetup;
confine(setup);
const hardening = hardened(setup);
const socket = new Socket({ fd: PIPE_FD });
const reader = new FrameReader(MAX_FRAME_BYTES, (messages) => {
  for (const message of messages as BundleRequestMessage[]) {
    handle(message).then(
      (answer) => socket.write(frameOf(message.id, answer)),
      // Code never causes an exception here: the bundler is gone, or this process is broken.
      (error: unknown) => {
        process.stderr.write(`${String(error)}\n`);
        process.exit(BUNDLER_GONE);
      },
    );
  }
});
socket.on('data', (chunk: Buffer) => reader.push(chunk));
socket.on('error', endAll);
socket.on('close', endAll);
// This resolves only when the bundler could be started.
await transform('');
hardening?.narrow();
socket.write(encodeFrame([{ id: 0 } satisfies BundleResponseMessage], []));
