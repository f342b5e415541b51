// Any request to its address is an event.

import { ConfigurationError } from '@pipedream/platform';

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

export default {
  key: 'http',
  name: 'HTTP requests',
  description: 'Emits every request to an address of its own, and answers it as you say.',
  version: '1.0.0',
  props: {
    http: { type: '$.interface.http', customResponse: true },
    status: {
      type: 'integer',
      label: 'Status',
      description: 'Of the answer.',
      default: 200,
      min: 200,
      max: 599,
    },
    headers: {
      type: 'object',
      label: 'Headers',
      description: 'Of the answer: name → value.',
      optional: true,
    },
    body: {
      type: 'string',
      label: 'Body',
      description: 'Of the answer; none: empty.',
      default: '',
    },
  },

  hooks: {
    activate() {
      for (const [name, value] of Object.entries(this.headers ?? {})) {
        if (!canBeSent([name, value])) {
          const part = NAME.test(name) ? 'the value of the header' : 'the name of the header';
          throw new ConfigurationError(`${part} ${JSON.stringify(name)} has characters that HTTP does not allow there`);
        }
      }
    },
  },

  async run(event) {
    const { method, path } = event;
    this.$emit(event, { summary: `${method} ${path}`.slice(0, 200) });
    // An answer that cannot be sent would fail the run, and the event would not be emitted.
    const headers = Object.fromEntries(Object.entries(this.headers ?? {}).filter(canBeSent));
    await this.http.respond({ status: this.status, headers, body: this.body });
  },
};

/** As the server judges the headers of an answer; without a value there is no header. */
function canBeSent([name, value]) {
  return (
    value === undefined ||
    value === null ||
    (NAME.test(name) && [value].flat().every((one) => VALUE.test(String(one ?? ''))))
  );
}
