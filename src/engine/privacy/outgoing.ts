// What leaves the server on its own, as it is shown: mails, notices, tests of webhooks and channels, lines of the log. Rules
// count that were set since it was made.

import { text, utf8 } from '../../domain/bytes.ts';
import type { Attempt, ClaimedDelivery } from '../../domain/delivery/delivery.ts';
import type { Emission } from '../../domain/emission.ts';
import type { Notice } from '../../domain/notices/notice.ts';
import { ledBy } from '../../domain/privacy/led-by.ts';
import type { Redactor } from '../../domain/privacy/redactor.ts';
import { HIDDEN } from '../../domain/privacy/rules.ts';
import type { Probe } from '../../domain/requests.ts';
import type { Clock, Log } from '../../ports.ts';
import { unsent } from '../notices/channel-attempts.ts';
import type { ChannelTestDeps } from '../notices/channel-tests.ts';
import type { RedactionRulesOf } from './redactions.ts';
import { shownAttempt } from './shown-records.ts';

type SendMail = (delivery: ClaimedDelivery, signal?: AbortSignal) => Promise<Attempt>;
type ProbeChannel = ChannelTestDeps['probeChannel'];
type Sent = Pick<Probe, 'attempt' | 'request'>;

export interface OutgoingDeps {
  readonly rules: Pick<RedactionRulesOf, 'recent'>;
  readonly publicUrl: () => string;
  readonly clock: Clock;
}

export function createOutgoing({ rules, publicUrl, clock }: OutgoingDeps) {
  async function hidesOf({ emission }: ClaimedDelivery): Promise<Redactor | null> {
    const own = await rules.recent(emission.ownerId);
    return own?.of([emission.emitterId, ...ledBy(emission)]) ?? null;
  }

  /** Returns a function that sends mails as they are shown, by the rules for text. A mail waits while its rules cannot be read. */
  function mailing(send: SendMail): SendMail {
    return async (delivery, signal) => {
      const { emission } = delivery;
      const hides = await hidesOf(delivery).catch(() => undefined);
      if (hides === undefined) {
        return unsent(clock.nowMs(), { detail: 'The rules of redaction could not be read.', permanent: false });
      }
      if (!hides) return send(delivery, signal);
      return send(
        { ...delivery, emission: { ...emission, body: shownMail(emission.body, hides, publicUrl()) } },
        signal,
      );
    };
  }

  async function noticeFor(
    { ownerId, lineage }: Pick<Emission, 'ownerId' | 'lineage'>,
    notice: Notice,
  ): Promise<Notice> {
    const own = await rules.recent(ownerId);
    const hides = own?.of([notice.emitter_id, ...lineage]);
    if (!hides) return notice;
    const { message, line, cause, event } = notice;
    const shown = { message: hides.text(message), line: hides.text(line), event: hides.text(event) };
    return { ...notice, ...shown, ...(cause === undefined ? {} : { cause: hides.text(cause) }) };
  }

  function probingChannel(probe: ProbeChannel): ProbeChannel {
    return async (channel, delivery) => {
      const attempt = await probe(channel, delivery);
      const hides = attempt && (await hidesOf(delivery));
      return hides ? shownAttempt(attempt, hides) : attempt;
    };
  }

  function probing<T extends Sent>(probe: (delivery: ClaimedDelivery) => Promise<T | undefined>): typeof probe {
    return async (delivery) => {
      const probed = await probe(delivery);
      const hides = probed && (await hidesOf(delivery));
      if (!hides) return probed;
      const { attempt, request } = probed;
      return {
        ...probed,
        attempt: shownAttempt(attempt, hides),
        request: { ...request, body: hides.json(request.body) },
      };
    };
  }

  /** Lines with what an owner's code threw or printed, or a receiver said, wait for the rules of that owner; all others are written at once. */
  function logging(log: Log): Log {
    const writing =
      (level: 'info' | 'warn') =>
      (fields: object, name: string): void => {
        const said = saidIn(fields);
        if (!said) {
          log[level](fields, name);
          return;
        }
        const write = (shown: (given: string) => string): void =>
          log[level]({ ...fields, [said.member]: shown(said.text) }, name);
        rules.recent(said.owner).then(
          (own) => write((given) => own?.all.text(given) ?? given),
          () => write(() => HIDDEN),
        );
      };
    return { ...log, info: writing('info'), warn: writing('warn') };
  }

  return { mailing, noticeFor, probingChannel, probing, logging };
}

function saidIn(fields: object): { readonly owner: string; readonly member: string; readonly text: string } | null {
  if (!('owner' in fields) || typeof fields.owner !== 'string') return null;
  for (const [member, value] of Object.entries(fields)) {
    if ((member === 'thrown' || member === 'detail') && typeof value === 'string' && value !== '') {
      return { owner: fields.owner, member, text: value };
    }
  }
  return null;
}

/** Links to pages of the server, of ids alone: a pattern for long numbers would break them, and they tell nothing. */
const PAGE = String.raw`(?:/(?:n|errors|workflows|runs|sources|webhooks|deliveries))(?:/(?:[a-z]{1,2}_\w{1,32}|\d{1,16}-\d{1,9}|\d{1,12}\.[\w-]{24}|mute|resolve|replay)(?![\w.-]))+`;
/** Stand for links while the rest is redacted: characters for private use. */
const [FIRST_MARK, MARKS] = [0xe000, 0x1000];

/** Returns the body of a mail as it is shown. `body`: JSON of the mail's parts. */
function shownMail(body: Uint8Array, hides: Redactor, publicUrl: string): Uint8Array {
  const parts = JSON.parse(text(body)) as Readonly<Record<string, unknown>>;
  const link = new RegExp(publicUrl.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') + PAGE, 'g');
  const shown = Object.entries(parts).map(([name, value]) => [
    name,
    typeof value === 'string' ? shownBesideLinks(value, hides, link) : value,
  ]);
  return utf8(JSON.stringify(Object.fromEntries(shown)));
}

function shownBesideLinks(given: string, hides: Redactor, link: RegExp): string {
  const links = [...given.matchAll(link)].map(([found]) => found);
  const isMarked = [...given].some((char) => isMark(char.charCodeAt(0)));
  if (links.length === 0 || links.length > MARKS || isMarked) return hides.text(given);
  let n = 0;
  const marked = given.replace(link, () => String.fromCharCode(FIRST_MARK + n++));
  return hides.text(marked).replace(/[\ue000-\uefff]/g, (mark) => links[mark.charCodeAt(0) - FIRST_MARK] ?? mark);
}

const isMark = (code: number): boolean => code >= FIRST_MARK && code < FIRST_MARK + MARKS;
