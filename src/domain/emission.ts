// An emission: one entry of the durable log. Its body is what arrived, in bytes that are never re-serialised.

import { text } from './bytes.ts';
import type { CapturedFault } from './errors/fingerprint.ts';
import { entryOfEmitId, msOf } from './ids.ts';

/** Kind of trigger of an event, as the listener sees it (`original_context.source_type`). */
export type SourceType = 'HTTP' | 'TIMER' | 'SOURCE' | 'WORKFLOW' | 'ERROR' | 'WEBHOOK' | 'API';

/** Channel names of the service. Names that begin with `$` are matched only by name; user code cannot emit on them. */
export const ERRORS = '$errors';
/** The end of what a watch has told of. */
export const RECOVERED = '$recovered';
export const EMAIL = '$email';
/** The channel of a source's emissions that wait for their time. Nothing is emitted on it. */
export const WAITING = '$in';
/** A request that a run's code asked for. */
export const HTTP = '$http';
/** A notice to one of the owner's channels. */
export const NOTICE = '$notice';
/** One workflow's run requested by the API or by another workflow, and a replay: routed to that workflow alone. */
export const RUN = '$run';
export const REPLAY = '$replay';
/** Requested hooks of a source, in the order of its life. */
export const HOOK_NAMES = ['$deploy', '$activate', '$deactivate'] as const;
/** Channels of the service that a subscription may name. */
export const HEARD_BY_NAME: readonly string[] = [ERRORS, RECOVERED, '$logs', EMAIL, HTTP];

export interface NewEmission {
  readonly ownerId: string;
  /** The emitter: `hi_ ti_ dc_ p_ wh_ hb_`, or the owner `u_` for an API run or a replay. */
  readonly emitterId: string;
  /** The channel; empty for the default one. */
  readonly name: string;
  /** JSON text in UTF-8, exactly as it arrived or was emitted. */
  readonly body: Uint8Array;
  readonly sourceType: SourceType;
  /** Shown as `original_context.emitter_id`: the emitter; of a replay, the emitter of the original event. */
  readonly originId: string;
  /** The trigger checked a signature or token. */
  readonly verified: boolean;
  readonly replay: boolean;
  readonly test: boolean;
  /** One per original event, kept across retries, forwards and replays. Null: a trace begins with this emission. */
  readonly traceId: string | null;
  /**
   * The `traceparent` that the original event came with, and behind a blank its `tracestate`; kept like `traceId`. Null: none, or
   * nothing is traced here.
   */
  readonly traceparent: string | null;
  /** Listeners (`p_`, `dc_`, `wh_`) whose runs or deliveries led to this emission, oldest first, each once. */
  readonly lineage: readonly string[];
  /** Number of runs between the original event and this emission. */
  readonly hops: number;
  /** Number of the run whose end emits this; null for an event from outside. */
  readonly causeRun: number | null;
  /** Number of the delivery whose exhaustion emits this; null otherwise. */
  readonly causeDelivery: number | null;
  /** Given by a source: shown in lists. */
  readonly summary: string | null;
  /** Given by a source: the id that dedupe judges. */
  readonly itemId: string | null;
  /** Given by a source: epoch milliseconds. */
  readonly itemTs: number | null;
  /** For `$errors`: the error code. */
  readonly code: string | null;
  /** For `$errors`: the offset of `original_event` in the body, so that a replay can cut out its exact bytes. */
  readonly originalStart: number | null;
  readonly originalLength: number | null;
  /** The only listener (API run, replay, invoke, or a request's own); null: all subscribers. */
  readonly onlyListenerId: string | null;
  /**
   * For `$email` sent by the global error workflow about an error: repeats of this key are counted, not sent. For `$notice`: the
   * group of errors that it tells of, which is no error of that group.
   */
  readonly digestKey: string | null;
  /**
   * For `$errors`: the group of errors that it belongs to; null until it is in the log. For a digest: its `digestKey`, by which what it
   * has counted finds it.
   */
  readonly groupId: string | null;
  /** For a new `$errors`: what its group is found by. Without meaning in the log. */
  readonly fault?: CapturedFault;
  /** For a new `$errors`: true when the request that led to it is refused with it. Without meaning in the log. */
  readonly isAnswered?: boolean;
  /** Given by a source: emitted not before then. Without meaning in the log. */
  readonly deliverAtMs?: number;
}

/** An emission in the log. */
export interface Emission extends NewEmission {
  /** Primary key, from the store's clock; see domain/ids.ts. */
  readonly entry: number;
  readonly emitId: string;
  readonly traceId: string;
  /** True: its body is not what is stored, since rules hide a part of it. */
  readonly isRedacted?: boolean;
}

/** The event of hooks. `creates`: the source is made by them, and refused when they fail. */
export interface HookEvent {
  readonly hooks: readonly string[];
  readonly creates?: boolean;
}

/** Returns the event of a source's hooks; null: the emission is another one. */
export function hookEvent({ name, body }: Pick<NewEmission, 'name' | 'body'>): HookEvent | null {
  return HOOK_NAMES.some((hook) => hook === name) ? (JSON.parse(text(body)) as HookEvent) : null;
}

/** Returns when the original event of the trace arrived, also for a replay. Epoch milliseconds. */
export function arrivedAtMs({ traceId, entry }: Pick<Emission, 'traceId' | 'entry'>): number {
  return msOf(entryOfEmitId(traceId) ?? entry);
}

/** Defaults of a new emission, to spread under the rest. */
export const PLAIN_EMISSION = {
  name: '',
  verified: false,
  replay: false,
  test: false,
  traceId: null,
  traceparent: null,
  lineage: [] as readonly string[],
  hops: 0,
  causeRun: null,
  causeDelivery: null,
  summary: null,
  itemId: null,
  itemTs: null,
  code: null,
  originalStart: null,
  originalLength: null,
  onlyListenerId: null,
  digestKey: null,
  groupId: null,
} as const;

/** Returns an emission by the owner that is routed to one workflow or source alone. */
export function directEmission(ownerId: string, listenerId: string, event: Uint8Array): NewEmission {
  return {
    ...PLAIN_EMISSION,
    ownerId,
    emitterId: ownerId,
    originId: ownerId,
    name: RUN,
    sourceType: 'API',
    body: event,
    onlyListenerId: listenerId,
  };
}

const SOURCE_TYPES: Record<string, SourceType> = {
  hi_: 'HTTP',
  ti_: 'TIMER',
  dc_: 'SOURCE',
  p_: 'WORKFLOW',
  wh_: 'WEBHOOK',
  u_: 'API',
};

/** Returns the kind of trigger that listeners see for this emitter and name. */
export function sourceTypeOf(emitterPrefix: string, name: string): SourceType {
  return name === ERRORS ? 'ERROR' : (SOURCE_TYPES[emitterPrefix] ?? 'API');
}
