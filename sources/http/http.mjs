// Any request to its address is an event.

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

  async run(event) {
    const { method, path } = event;
    this.$emit(event, { summary: `${method} ${path}`.slice(0, 200) });
    await this.http.respond({ status: this.status, headers: this.headers ?? {}, body: this.body });
  },
};
