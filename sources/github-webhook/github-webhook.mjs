// GitHub calls its address; what GitHub has signed is emitted.

import { ConfigurationError } from '@pipedream/platform';
import { parseExact } from '../common/exact-json.mjs';
import { accept, bytesOf, http, isWanted, pass, refuse } from '../common/signed.mjs';
import { faultOf } from './signature.mjs';

const NAME = /^[a-z][a-z0-9_]{0,63}$/;
const FORM = 'application/x-www-form-urlencoded';

export default {
  key: 'github-webhook',
  name: 'Events of GitHub',
  description: 'Emits what a webhook of GitHub sends, when its signature is right.',
  version: '1.0.0',
  dedupe: 'unique',
  props: {
    secret: {
      type: 'string',
      label: 'Secret',
      description: 'The one that the webhook at GitHub has.',
      secret: true,
    },
    events: {
      type: 'string[]',
      label: 'Events',
      description: 'Names of those that are emitted, like `push`; none: all.',
      optional: true,
    },
    http,
    db: '$.service.db',
  },

  hooks: {
    activate() {
      if (this.secret === '') throw new ConfigurationError('the secret is empty');
    },
  },

  async run(event) {
    const { headers } = event;
    const bytes = bytesOf(event);
    const fault = faultOf({ bytes, header: headers['x-hub-signature-256'], secret: this.secret });
    if (fault !== null) return await refuse(this, event, { status: 401, reason: fault });
    const { 'x-github-event': name, 'x-github-delivery': delivery, 'content-type': type } = headers;
    const payload = parseExact(textOf(bytes, type));
    if (typeof payload !== 'object' || payload === null || !NAME.test(name ?? '') || !delivery) {
      return await refuse(this, event, { status: 400, reason: 'it is no event of GitHub' });
    }
    if (name === 'ping') return await pass(this, `ping, ${payload.zen}`);
    if (!isWanted(name, this.events)) return await pass(this, name);
    this.$emit(
      { event: name, delivery, payload },
      { name, id: delivery, summary: summaryOf(name, payload), verified: true },
    );
    await accept(this);
  },
};

/** GitHub sends JSON, or a form with one field of JSON. */
function textOf(bytes, type = '') {
  const text = bytes.toString();
  return type.startsWith(FORM) ? (new URLSearchParams(text).get('payload') ?? '') : text;
}

function summaryOf(name, { action, repository, organization }) {
  const where = repository?.full_name ?? organization?.login;
  return [name, action, where && `in ${where}`].filter(Boolean).join(' ').slice(0, 200);
}
