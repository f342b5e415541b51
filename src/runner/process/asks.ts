// The questions of one run, whose code waits for the answers. They are passed on in the order in which they came. User
// code could write to the pipe itself, so there are never more than a few here, and none is passed on while the process
// does not read what it was told.

import { LIMITS } from '../../domain/limits.ts';
import type { Log } from '../../ports.ts';
import type { Question, Reply, RunRequest } from '../runner.ts';
import type { ChildLink } from './child-link.ts';

export interface AsksOptions {
  readonly ask: NonNullable<RunRequest['ask']>;
  readonly reply: (id: number, reply: Reply) => void;
  /** Resolves when the process has read most of what it was sent, or is gone. */
  readonly room: () => Promise<void>;
  /** `ask` has rejected, which is a bug. */
  readonly onBug: (error: unknown) => void;
}

/** Of a run whose caller answers none. */
const asksInVain = async (): Promise<Reply> => ({
  ok: false,
  name: 'Error',
  message: 'Nobody answers questions here',
});

const BUG: Reply = {
  ok: false,
  name: 'Error',
  message: 'This failed because of a bug in the service; its log says more',
};

export class Asks {
  readonly #options: AsksOptions;
  #last: Promise<void> = Promise.resolve();
  #open = 0;
  #openBytes = 0;
  #isClosed = false;

  constructor(options: AsksOptions) {
    this.#options = options;
  }

  /** Throws when there are more at a time than an honest process asks. `bytes`: of the question. */
  add(id: number, question: Question, bytes: number): void {
    if (this.#open >= LIMITS.openAsks || this.#openBytes + bytes > LIMITS.openAskBytes) {
      throw new RangeError('more questions at a time than there may be');
    }
    this.#open++;
    this.#openBytes += bytes;
    this.#last = this.#last.then(() => this.#options.room()).then(() => void this.#answer(id, question, bytes));
  }

  /** The run is over: what waits is not answered any more. */
  close(): void {
    this.#isClosed = true;
  }

  async #answer(id: number, question: Question, bytes: number): Promise<void> {
    const { ask, reply, onBug } = this.#options;
    if (this.#isClosed) return;
    const answer = await ask(question).catch((error: unknown) => {
      onBug(error);
      return BUG;
    });
    // Before the reply: with it, the process may ask the next one.
    this.#open--;
    this.#openBytes -= bytes;
    if (!this.#isClosed) reply(id, answer);
  }
}

/** Of a run whose process is at the other end of the link. */
export function asksOf(
  { run, ask = asksInVain }: Pick<RunRequest, 'run' | 'ask'>,
  link: Pick<ChildLink, 'post' | 'room'>,
  log: Log,
): Asks {
  return new Asks({
    ask,
    room: () => link.room(),
    reply: (id, reply) => {
      const json = Buffer.from(reply.ok ? reply.json : JSON.stringify({ name: reply.name, message: reply.message }));
      link.post({ t: 'reply', run, id, ok: reply.ok, bytes: json.byteLength }, json);
    },
    onBug: (error) => log.error({ err: error, run }, 'runner.ask_rejected'),
  });
}
