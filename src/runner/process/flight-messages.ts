// What a child process says of one run in flight: the step that begins, the answer for its caller, what its code asks for,
// and the end.

import type { RunOutcome } from '../../domain/run/run.ts';
import type { Clock, Log } from '../../ports.ts';
import type { ChildLink } from './child-link.ts';
import { childRequestsOf } from './child-requests.ts';
import type { Flight } from './flight.ts';
import { readAnswer, readChildRequest, readEnd, readStepMessage } from './inbound.ts';

export type Message = Readonly<Record<string, unknown>>;

interface Around {
  readonly link: Pick<ChildLink, 'post' | 'room'>;
  readonly clock: Clock;
  readonly log: Log;
}

interface Said {
  readonly message: Message;
  /** The message's own bytes; null: it has none. */
  readonly body: Buffer | null;
}

/** Returns how the run has ended when the message says so; else null. Throws on a message that no honest process sends. */
export function takeForFlight(
  flight: Flight,
  { message, body }: Said,
  { link, clock, log }: Around,
): RunOutcome | null {
  switch (message.t) {
    case 'end':
      return readEnd(message, { flight, body, nowMs: clock.nowMs() });
    case 'step':
      readStepMessage(message, flight);
      flight.stepStartedAtMs = clock.nowMs();
      return null;
    case 'answer':
      takeAnswer(flight, { message, body }, log);
      return null;
    case 'request': {
      const { id, request, bytes } = readChildRequest(message, body);
      flight.childRequests ??= childRequestsOf(flight.request, link, log);
      flight.childRequests.add(id, request, bytes);
      return null;
    }
    default:
      throw new TypeError('no such message');
  }
}

function takeAnswer(flight: Flight, { message, body }: Said, log: Log): void {
  if (flight.answered) throw new TypeError('it has been answered before');
  const answer = readAnswer(message.answer, body);
  flight.answered = true;
  try {
    flight.request.onAnswer(answer);
  } catch (error) {
    log.error({ run: flight.request.run, error: String(error) }, 'runner.on_answer_threw');
  }
}
