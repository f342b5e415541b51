// Asks an IMAP server for the messages of a mailbox, and emits each new one once.

import { createHash } from 'node:crypto';
import { ConfigurationError } from '@pipedream/platform';
import { checkedHooks, past, timer } from '../common/polling.mjs';
import { eventOf, identityOf } from './message.mjs';
import { openMailbox, PORTS } from './server.mjs';

const KEY = 'read';
/** How many messages of a poll. */
const MAX_NEW = 50;
/** What of a message is read; of larger ones, the end is missing. */
const MAX_SOURCE_BYTES = 8 * 1024 * 1024;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_CONTENT_BYTES = 1024 * 1024;
/** Messages that are known by more than their number, and how far back they are looked for. */
const KNOWN = 200;

export default {
  key: 'mailbox',
  name: 'New mail',
  description: 'Asks an IMAP server at an interval, and emits each new message of a mailbox once.',
  version: '1.0.0',
  props: {
    host: { type: 'string', label: 'Server', description: 'Its name, like `imap.example.com`.' },
    security: {
      type: 'string',
      label: 'Security',
      description: '`tls` from the beginning, `starttls` (required), or `none`, for servers of your own network.',
      options: Object.keys(PORTS),
      default: 'tls',
    },
    port: {
      type: 'integer',
      label: 'Port',
      description: 'None: 993 with `tls`, else 143.',
      optional: true,
      min: 1,
      max: 65_535,
    },
    ca: {
      type: 'string',
      label: 'Certificate',
      description: 'The certificate authority of the server in PEM, when it is not a public one.',
      optional: true,
    },
    user: { type: 'string', label: 'User', description: 'Most often the address.' },
    password: { type: 'string', label: 'Password', description: 'Often one that is for programs.', secret: true },
    mailbox: { type: 'string', label: 'Mailbox', description: 'Its name on the server.', default: 'INBOX' },
    mark_read: {
      type: 'boolean',
      label: 'Mark as read',
      description: 'What was emitted is marked as read on the server. Otherwise nothing changes there.',
      default: false,
    },
    content_bytes: {
      type: 'integer',
      label: 'Attachments up to',
      description: 'How many bytes an attachment may have to be emitted with its content; 0: names and sizes alone.',
      default: 0,
      min: 0,
      max: MAX_CONTENT_BYTES,
    },
    past,
    timer,
    db: '$.service.db',
  },

  hooks: checkedHooks,

  methods: {
    check() {
      if (!Object.hasOwn(PORTS, this.security)) {
        throw new ConfigurationError(`security is ${Object.keys(PORTS).join(', ')}, not ${this.security}`);
      }
    },

    async poll() {
      this.check();
      const { host, security, user, password, ca, mailbox } = this;
      const port = this.port ?? PORTS[security];
      const server = { host, port, security, user, password, ca, mailbox, isReadOnly: !this.mark_read };
      const { events, state } = await openMailbox(server, (client) => this.read(client, [host, port, user, mailbox]));
      this.db.set(KEY, state);
      for (const event of events) {
        const id = event.message_id ?? `${state.validity}.${event.uid}`;
        this.$emit(event, { id, summary: (event.subject || id).slice(0, 200) });
      }
    },

    async read(client, place) {
      const from = createHash('sha256').update(JSON.stringify(place)).digest('base64url');
      const before = this.db.get(KEY);
      const { uidValidity, uidNext } = client.mailbox;
      const validity = String(uidValidity);
      const known = before?.from === from ? before : { known: [] };
      const found = await this.newUids(client, { before: known, validity });
      const { events, messages, isWhole } = await this.eventsOf(client, found);
      if (!isWhole) console.log(`there are more messages than ${events.length}; the next poll goes on`);
      const uids = messages.map(({ uid }) => uid);
      if (this.mark_read && uids.length > 0) await client.messageFlagsAdd(uids.join(','), ['\\Seen'], { uid: true });
      // One that has come since the mailbox was opened may be among them; not every server tells `uidNext`.
      const last = isWhole ? Math.max(found.highest, (uidNext ?? 1) - 1, ...uids) : uids.at(-1);
      const now = [...(found.old ?? known.known), ...messages.map(identityOf)];
      const state = { from, validity, last, known: [...new Set(now)].slice(-KNOWN), at: Date.now() };
      return { events, state };
    },

    /** Their numbers, oldest first; the highest that was there before; and who else is there, where that had to be asked. */
    async newUids(client, { before, validity }) {
      if (before.validity === validity) {
        return { uids: await uidsAfter(client, before.last), highest: before.last };
      }
      const newest = await newestOf(client);
      const fresh = before.validity === undefined ? newestFew(newest, this.past) : unknownOf(newest, before);
      if (before.validity !== undefined) {
        console.warn(`the server has renumbered its messages; ${fresh.length} are treated as new`);
      }
      const old = newest.filter((message) => !fresh.includes(message)).map(identityOf);
      return { uids: fresh.map(({ uid }) => uid), old, highest: newest.at(-1)?.uid ?? 0 };
    },

    async eventsOf(client, { uids }) {
      const [events, messages] = [[], []];
      let bytes = 0;
      for (const uid of uids) {
        if (events.length === MAX_NEW) return { events, messages, isWhole: false };
        const message = await client.fetchOne(String(uid), WHOLE, { uid: true });
        if (!message?.source) continue; // it has gone meanwhile
        const event = await eventOf(message, { mailbox: this.mailbox, maxContentBytes: this.content_bytes });
        bytes += Buffer.byteLength(JSON.stringify(event));
        if (bytes > MAX_BYTES && events.length > 0) return { events, messages, isWhole: false };
        events.push(event);
        messages.push(message);
      }
      return { events, messages, isWhole: true };
    },
  },

  async run() {
    await this.poll();
  },
};

/** Reading the source this way leaves a message unread. */
const WHOLE = {
  uid: true,
  flags: true,
  envelope: true,
  internalDate: true,
  size: true,
  source: { start: 0, maxLength: MAX_SOURCE_BYTES },
};

async function uidsAfter(client, last) {
  if (client.mailbox.uidNext <= last + 1) return [];
  const found = await client.search({ uid: `${last + 1}:*` }, { uid: true });
  // The star stands for the last one there is, also when that is an older one.
  return (found || []).filter((uid) => uid > last).sort((a, b) => a - b);
}

/** Oldest first. */
async function newestOf(client) {
  const { exists } = client.mailbox;
  if (exists === 0) return [];
  const range = `${Math.max(1, exists - KNOWN + 1)}:*`;
  return await client.fetchAll(range, { uid: true, envelope: true, internalDate: true, size: true });
}

function newestFew(messages, count) {
  return count === 0 ? [] : messages.slice(-count);
}

/**
 * When the server has renumbered its messages: those behind the newest that is known. When none is known, those that
 * have arrived since the last poll.
 */
function unknownOf(messages, { known, at }) {
  const last = messages.findLastIndex((message) => known.includes(identityOf(message)));
  if (last >= 0) return messages.slice(last + 1);
  return messages.filter(({ internalDate }) => new Date(internalDate).getTime() > at);
}
