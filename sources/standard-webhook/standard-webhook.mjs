// Senders of Standard Webhooks call its address; requests with a valid signature are emitted.

import { ConfigurationError } from '@pipedream/platform';
import { parseExact } from '../common/exact-json.mjs';
import { accept, arrivedMs, bytesOf, http, isWanted, pass, refuse } from '../common/signed.mjs';
import { faultOf, keysOf } from './signature.mjs';

export default {
  key: 'standard-webhook',
  name: 'Standard Webhooks',
  description: 'Emits what a sender of Standard Webhooks sends, when its signature is right.',
  version: '1.0.1',
  dedupe: 'unique',
  props: {
    secrets: {
      type: 'string[]',
      label: 'Secrets',
      description: 'Of the sender: `whsec_…`, or `whpk_…`; several while they are being changed.',
      secret: true,
    },
    types: {
      type: 'string[]',
      label: 'Types',
      description: 'Values of `type` of the payloads that are emitted, like `user.created` or `user.*`; none: all.',
      optional: true,
    },
    http,
    db: '$.service.db',
  },

  hooks: {
    activate() {
      try {
        keysOf(this.secrets);
      } catch (error) {
        throw new ConfigurationError(error.message);
      }
    },
  },

  async run(event, $) {
    const { headers } = event;
    const bytes = bytesOf(event);
    const fault = faultOf({ bytes, headers, keys: keysOf(this.secrets), arrivedMs: arrivedMs($) });
    if (fault !== null) return await refuse(this, event, fault);
    const payload = parseExact(bytes.toString());
    if (payload === undefined) return await refuse(this, event, { status: 400, reason: 'the body is no JSON' });
    const { 'webhook-id': id, 'webhook-timestamp': timestamp } = headers;
    const type = payload?.type;
    if (!isWanted(type, this.types)) return await pass(this, type ?? 'no type');
    const ts = Number(timestamp) * 1000;
    this.$emit({ id, timestamp: Number(timestamp), payload }, { id, ts, summary: type ?? id, verified: true });
    await accept(this);
  },
};
