// What goes out: requests to webhooks and of code, mails, and traces.

import { VERSION } from '../domain/version.ts';
import type { Tracing } from '../engine/tracing/tracing.ts';
import { createMailer } from '../mail/mailer.ts';
import { removeLetters } from '../mail/outbox-letters.ts';
import type { Clock, Log, Random, SpanSink } from '../ports.ts';
import type { Addresses } from '../webhook/address.ts';
import { createGuardedClient } from '../webhook/client.ts';
import { createPoster, type PosterOptions } from '../webhook/post.ts';
import { createTokenRequests } from '../webhook/token.ts';
import { type Config, dataPaths } from './config.ts';

export interface SenderPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly addresses: Addresses;
  readonly tracing: Tracing | null;
  readonly lineageFor: PosterOptions['lineageFor'];
}

export function createSenders({ smtpUrl, mailFrom: from, dataDir }: Config, ports: SenderPorts) {
  const { clock, random, log, addresses, tracing, lineageFor } = ports;
  const client = createGuardedClient({ addresses });
  const contextOf = tracing?.sent.bind(tracing);
  const poster = createPoster({ client, clock, version: VERSION, contextOf, lineageFor });
  const outboxDir = dataPaths(dataDir).outbox;
  const mailer = createMailer({ smtpUrl, from, outboxDir, clock, random, log });
  /** Deletes what is outside of the store of an owner. */
  const removeFiles = (ownerId: string): Promise<void> => removeLetters(outboxDir, ownerId, clock.nowMs());
  const requestToken = createTokenRequests({ client, version: VERSION });
  return { client, poster, mailer, removeFiles, requestToken };
}

/** Opens what spans are sent by; null: tracing is off. The packages of OpenTelemetry are loaded here and nowhere else. */
export async function openSpansOf({ tracing }: Pick<Config, 'tracing'>, log: Log): Promise<SpanSink | null> {
  if (tracing === null) return null;
  const { openSpans } = await import('../otel/spans.ts');
  return openSpans(tracing, { log, version: VERSION });
}
