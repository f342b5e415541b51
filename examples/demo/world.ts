// Everything that the chapters of the demo share: the server, the receivers, and what was deployed.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Api, createApi, type Json } from './api.ts';
import { type Archive, type Receiver, startArchive, startReceiver } from './receivers.ts';
import { freePort, type Server, startServer } from './server.ts';
import type { Story } from './story.ts';

export interface World {
  readonly story: Story;
  readonly server: Server;
  readonly api: Api;
  readonly archive: Archive;
  readonly receiver: Receiver;
  /** kill -9, and a new process on the same store and port. */
  crash(): Promise<void>;
  /** Stops the server and removes its store; may be called twice. Returns the server's exit code. */
  close(): Promise<number | null>;
}

/** The resources that chapter one makes and the others use, as the API answered them. */
export interface Deployed {
  readonly checkOrder: Json;
  readonly keepErrors: Json;
  readonly shopOrders: Json;
  readonly alerts: Json;
  readonly books: Json;
}

export async function createWorld(story: Story): Promise<World> {
  const dataDir = await mkdtemp(join(tmpdir(), 'errand-demo-'));
  const [archive, receiver, port] = await Promise.all([startArchive(), startReceiver(), freePort()]);
  let server = await startServer({ dataDir, port }).catch(async (error) => {
    await Promise.all([archive.close(), receiver.close(), rm(dataDir, { recursive: true, force: true })]);
    throw error;
  });
  let closing: Promise<number | null> | undefined;
  const closeAll = async (): Promise<number | null> => {
    const code = await server.stop();
    await Promise.all([archive.close(), receiver.close()]);
    await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
    return code;
  };
  return {
    story,
    get server() {
      return server;
    },
    api: createApi(server),
    archive,
    receiver,
    crash: async () => {
      await server.kill();
      server = await startServer({ dataDir, port });
    },
    close: () => {
      closing ??= closeAll();
      return closing;
    },
  };
}

/** The code of an example, by its path under `examples/`. */
export function exampleCode(path: string): Promise<string> {
  return readFile(join(import.meta.dirname, '..', path), 'utf8');
}
