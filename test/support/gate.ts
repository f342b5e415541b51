// A receiver that holds whoever asks until it is opened: how a test knows that user code is under way, and how much at once.

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from './wait.ts';

export interface Gate extends AsyncDisposable {
  readonly url: string;
  /** Paths of all requests so far, in order of arrival. */
  readonly asked: string[];
  /** The largest number that was held at one time. */
  readonly most: number;
  readonly holding: number;
  /** Waits until `count` requests came. */
  wait(count: number): Promise<string[]>;
  /** Lets one go: the one that has waited longest. */
  letOne(): void;
  /** Lets all go, also those that come later. */
  open(): void;
}

export async function startGate(): Promise<Gate> {
  const asked: string[] = [];
  const held = new Set<ServerResponse>();
  let isOpen = false;
  let most = 0;
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    held.add(response);
    most = Math.max(most, held.size);
    response.on('close', () => held.delete(response));
    if (isOpen) letGo(response);
  });
  function letGo(response: ServerResponse): void {
    held.delete(response);
    response.end('go on');
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    get most() {
      return most;
    },
    get holding() {
      return held.size;
    },
    wait: (count) => until(`${count} requests at the gate`, () => asked.length >= count && asked),
    letOne: () => {
      const [first] = held;
      if (first !== undefined) letGo(first);
    },
    open: () => {
      isOpen = true;
      for (const response of held) letGo(response);
    },
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
