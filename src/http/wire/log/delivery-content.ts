// What a delivery says: to a webhook the event itself, else the request that code asked for, or what a mail or notice says.

import type { Static } from 'typebox';
import { originOfListener, readRequest, withoutSecrets } from '../../../domain/delivery/http-request.ts';
import { bodyWithoutSecrets } from '../../../domain/delivery/without-secrets.ts';
import { channelOfListener } from '../../../domain/notices/listener.ts';
import { mailOf } from '../../../domain/notices/mail.ts';
import { readNotice } from '../../../domain/notices/notice.ts';
import type { DeliveryRecord } from '../../../store/contract/records.ts';
import { Verbatim } from '../../body/json.ts';
import { text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';

export const REQUEST = Type.Object(
  {
    method: text({ description: 'HTTP method.', example: 'POST' }),
    url: text({ description: 'Where the request goes.', example: 'https://api.example.com/orders' }),
    headers: Type.Record(Type.String(), Type.String(), {
      description: 'Headers that the code gave.',
      examples: [{ 'content-type': 'application/json' }],
    }),
    body: Type.Optional(
      Type.Unknown({
        description: 'Body of the request: a text, or `{"$base64": "…"}` for other bytes.',
        examples: ['{"order": 12345}'],
      }),
    ),
  },
  {
    title: 'AskedRequest',
    description:
      'Only of a request: what the code asked for. To a key without the scope `write` its path, the values of its headers and its body are `(hidden)`.',
  },
);

export const MAIL = Type.Object(
  {
    subject: text({ description: 'Subject line.', example: '[Errand] Orders: TypeError' }),
    text: text({ description: 'The message as plain text.', example: 'Cannot read properties of undefined' }),
    has_html: Type.Boolean({ description: 'Whether `GET /v1/deliveries/{id}/mail` shows it.', examples: [true] }),
  },
  {
    title: 'DeliveryMail',
    description:
      'Only of a mail and of a notice: what it says; a notice in the form of a mail. To a key without the scope `write` its text is `(hidden)`: the links in it need no key.',
  },
);

export const EVENT = Type.Unknown({
  description: 'Only of a delivery to a webhook: the event, byte for byte the body of each request.',
  examples: [{ order: 12345 }],
});

export type Content = 'event' | 'request' | 'mail' | 'notice';

/** Returns what a delivery has to show; null: nothing. */
export function contentOf({ kind, listenerId }: Pick<DeliveryRecord, 'kind' | 'listenerId'>): Content | null {
  if (kind === 'mail') return 'mail';
  if (channelOfListener(listenerId) !== null) return 'notice';
  if (kind === 'webhook') return 'event';
  return originOfListener(listenerId) !== null ? 'request' : null;
}

export interface ShownContent {
  readonly content: Content | null;
  /** Of the emission, as its name. */
  readonly name: string;
  readonly body: Uint8Array;
  readonly withSecrets: boolean;
}

interface Mail {
  readonly subject: string;
  readonly text: string;
  readonly html: string | null;
}

const HIDDEN = '(hidden)';

export function contentToWire({ content, name, body, withSecrets }: ShownContent): {
  event?: unknown;
  request?: Static<typeof REQUEST>;
  mail?: Static<typeof MAIL>;
} {
  if (content === 'event') return { event: new Verbatim(withSecrets ? body : bodyWithoutSecrets(name, body)) };
  if (content === 'request') {
    const asked = readRequest(body);
    return { request: (withSecrets ? asked : withoutSecrets(asked)) as Static<typeof REQUEST> };
  }
  const mail = mailIn(content, body);
  if (mail === null) return {};
  const { subject, html } = mail;
  return { mail: { subject, text: withSecrets ? mail.text : HIDDEN, has_html: withSecrets && html !== null } };
}

/** Returns null for what is no mail: code may have sent anything. */
export function mailIn(content: Content | null, body: Uint8Array): Mail | null {
  if (content === 'notice') return mailOf(readNotice(body));
  if (content !== 'mail') return null;
  const given = jsonOf(body);
  if (typeof given !== 'object' || given === null) return null;
  const { subject, text: said, html = null } = given as Readonly<Record<string, unknown>>;
  if (typeof subject !== 'string' || typeof said !== 'string') return null;
  return { subject, text: said, html: typeof html === 'string' ? html : null };
}

function jsonOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return null;
  }
}
