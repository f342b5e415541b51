// Stripe calls its address; what Stripe has signed is emitted.

import { ConfigurationError } from '@pipedream/platform';
import { parseExact } from '../common/exact-json.mjs';
import { accept, arrivedMs, bytesOf, http, isWanted, pass, refuse } from '../common/signed.mjs';
import { faultOf } from './signature.mjs';

export default {
  key: 'stripe-webhook',
  name: 'Events of Stripe',
  description: 'Emits what a webhook endpoint of Stripe sends, when its signature is right.',
  version: '1.0.1',
  dedupe: 'unique',
  props: {
    secret: {
      type: 'string',
      label: 'Signing secret',
      description: 'Of the endpoint at Stripe: `whsec_…`.',
      secret: true,
    },
    types: {
      type: 'string[]',
      label: 'Types',
      description: 'Of the events that are emitted, like `invoice.paid` or `invoice.*`; none: all.',
      optional: true,
    },
    http,
    db: '$.service.db',
  },

  hooks: {
    activate() {
      if (this.secret === '') throw new ConfigurationError('the signing secret is empty');
    },
  },

  async run(event, $) {
    const bytes = bytesOf(event);
    const header = event.headers['stripe-signature'];
    const fault = faultOf({ bytes, header, secret: this.secret, arrivedMs: arrivedMs($) });
    if (fault !== null) return await refuse(this, event, { status: 400, reason: fault });
    const payload = parseExact(bytes.toString());
    if (typeof payload?.id !== 'string' || typeof payload.type !== 'string') {
      return await refuse(this, event, { status: 400, reason: 'it is no event of Stripe' });
    }
    const { id, type, created } = payload;
    if (!isWanted(type, this.types)) return await pass(this, type);
    // Seconds, or ISO 8601 since version 2.
    const ts = typeof created === 'number' ? created * 1000 : Date.parse(created);
    this.$emit(payload, { id, summary: type, verified: true, ...(Number.isNaN(ts) ? {} : { ts }) });
    await accept(this);
  },
};
