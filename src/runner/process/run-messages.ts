// Applies a child's messages to a run in flight: a step that has ended, printed lines, the answer for its caller,
// requests of its code, and the end.

import type { RunOutcome } from '../../domain/run/run.ts';
import type { Clock, Log } from '../../ports.ts';
import type { ChildLink } from './child-link.ts';
import { childRequestsOf } from './child-requests.ts';
import { readAnswer, readChildRequest, readEnd, readLogMessage, readStepMessage } from './inbound.ts';
import { CANCELLED, RETURNED, type RunInFlight } from './run-in-flight.ts';

export type Message = Readonly<Record<string, unknown>>;

interface MessageContext {
  readonly link: Pick<ChildLink, 'post' | 'drained'>;
  readonly clock: Clock;
  readonly log: Log;
}

interface ReceivedMessage {
  readonly message: Message;
  /** The message's own bytes; null: it has none. */
  readonly body: Buffer | null;
}

/**
 * Applies a message. Returns the outcome when the message ends the run; otherwise null. Throws on a message that no
 * honest process sends.
 */
export function applyRunMessage(
  run: RunInFlight,
  { message, body }: ReceivedMessage,
  { link, clock, log }: MessageContext,
): RunOutcome | null {
  switch (message.t) {
    case 'end':
      return readEnd(message, { run, body, nowMs: clock.nowMs() });
    case 'step':
      readStepMessage(message, run);
      run.stepStartedAtMs = clock.nowMs();
      return null;
    case 'log':
      readLogMessage(message, run);
      return null;
    case 'answer':
      takeAnswer(run, { message, body }, log);
      return null;
    case 'request': {
      const { id, request, bytes } = readChildRequest(message, body);
      run.childRequests ??= childRequestsOf(run.request, link, log);
      run.childRequests.add(id, request, bytes);
      return null;
    }
    default:
      throw new TypeError('no such message');
  }
}

/**
 * Applies a message about a run that is held. Returns the outcome of a run that was given back; null: it begins. Throws on any
 * other message: none of its code was called.
 */
export function applyHeldMessage(run: RunInFlight, { t, kind }: Message): RunOutcome | null {
  if (t === 'begun') return null;
  if (t === 'end' && kind === 'halted') return run.halted === 'cancelled' ? CANCELLED : RETURNED;
  throw new TypeError('a message of a run that has not begun');
}

function takeAnswer(run: RunInFlight, { message, body }: ReceivedMessage, log: Log): void {
  if (run.answered) throw new TypeError('it has been answered before');
  const answer = readAnswer(message.answer, body);
  run.answered = true;
  try {
    run.request.onAnswer(answer);
  } catch (error) {
    log.error({ run: run.request.run, error: String(error) }, 'runner.on_answer_threw');
  }
}
