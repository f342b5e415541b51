// The requests of one run's code, which waits for the replies. They are answered in the order of their arrival. User
// code could write to the pipe itself, so their number is bounded, and none is answered while the process does not read
// its replies.

import { LIMITS } from '../../domain/limits.ts';
import type { Log } from '../../ports.ts';
import type { ChildReply, ChildRequest, RunRequest } from '../runner.ts';
import type { ChildLink } from './child-link.ts';

export interface ChildRequestsOptions {
  readonly answer: NonNullable<RunRequest['onChildRequest']>;
  readonly reply: (id: number, reply: ChildReply) => void;
  /** Resolves when the process has read most of what it was sent, or is gone. */
  readonly drained: () => Promise<void>;
  /** Called when `answer` has rejected, which is a bug. */
  readonly onBug: (error: unknown) => void;
}

/** Answers for a run whose caller answers no requests. */
const refuseAll = async (): Promise<ChildReply> => ({
  ok: false,
  name: 'Error',
  message: 'This run answers no requests of its code',
});

const BUG: ChildReply = {
  ok: false,
  name: 'Error',
  message: 'This failed because of a bug in the service; its log says more',
};

export class ChildRequests {
  readonly #options: ChildRequestsOptions;
  #last: Promise<void> = Promise.resolve();
  #open = 0;
  #openBytes = 0;
  #isClosed = false;

  constructor(options: ChildRequestsOptions) {
    this.#options = options;
  }

  /**
   * Adds a request. Throws when there are more at a time than an honest process sends. `bytes`: the request's length.
   */
  add(id: number, request: ChildRequest, bytes: number): void {
    if (this.#open >= LIMITS.openChildRequests || this.#openBytes + bytes > LIMITS.openChildRequestBytes) {
      throw new RangeError('more requests at a time than there may be');
    }
    this.#open++;
    this.#openBytes += bytes;
    this.#last = this.#last.then(() => this.#options.drained()).then(() => void this.#answer(id, request, bytes));
  }

  /** Stops answering: the run is over. */
  close(): void {
    this.#isClosed = true;
  }

  async #answer(id: number, request: ChildRequest, bytes: number): Promise<void> {
    const { answer, reply, onBug } = this.#options;
    if (this.#isClosed) return;
    const given = await answer(request).catch((error: unknown) => {
      onBug(error);
      return BUG;
    });
    // Before the reply: the process may answer it with its next request.
    this.#open--;
    this.#openBytes -= bytes;
    if (!this.#isClosed) reply(id, given);
  }
}

/** Returns the requests of a run whose process is at the other end of the link. */
export function childRequestsOf(
  { run, onChildRequest = refuseAll }: Pick<RunRequest, 'run' | 'onChildRequest'>,
  link: Pick<ChildLink, 'post' | 'drained'>,
  log: Log,
): ChildRequests {
  return new ChildRequests({
    answer: onChildRequest,
    drained: () => link.drained(),
    reply: (id, reply) => {
      const json = Buffer.from(reply.ok ? reply.json : JSON.stringify({ name: reply.name, message: reply.message }));
      link.post({ t: 'reply', run, id, ok: reply.ok, bytes: json.byteLength }, json);
    },
    onBug: (error) => log.error({ err: error, run }, 'runner.ask_rejected'),
  });
}
