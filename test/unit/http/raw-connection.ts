// A caller on a bare socket: it sends what it likes, and sees what comes back byte by byte.

import { createConnection, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** One connection to the server, written to and read from as it is. */
export class RawConnection {
  readonly socket: Socket;
  #received = Buffer.alloc(0);
  #isClosed = false;
  #wake: () => void = () => {};

  constructor(port: number) {
    this.socket = createConnection({ port, host: '127.0.0.1', allowHalfOpen: true });
    this.socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    const closed = () => {
      this.#isClosed = true;
      this.#wake();
    };
    this.socket.on('end', closed);
    this.socket.on('close', closed);
    this.socket.on('error', closed);
  }

  send(data: string | Uint8Array): void {
    this.socket.write(data);
  }

  /** The next answer as text: headers, and the body by its Content-Length (none after a HEAD). */
  async answer(hasBody = true): Promise<{ status: number; head: string; body: string }> {
    for (;;) {
      const text = this.#received.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1] ?? 0);
      const total = end + 4 + (hasBody ? length : 0);
      if (end >= 0 && this.#received.length >= total) {
        const body = this.#received.subarray(end + 4, total).toString();
        this.#received = this.#received.subarray(total);
        return { status: Number(text.slice(9, 12)), head: text.slice(0, end), body };
      }
      if (this.#isClosed) throw new Error(`closed after ${JSON.stringify(text)}`);
      await this.#more();
    }
  }

  /** Waits until the server has closed its side; what came and was not read is returned. */
  async closed(): Promise<string> {
    while (!this.#isClosed) await this.#more();
    this.socket.destroy();
    return this.#received.toString();
  }

  end(): void {
    this.socket.end();
  }

  close(): void {
    this.socket.destroy();
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

export function connect(t: TestContext, port: number): RawConnection {
  const connection = new RawConnection(port);
  t.after(() => connection.close());
  return connection;
}
