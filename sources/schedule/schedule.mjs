// Emits by the clock.

export default {
  key: 'schedule',
  name: 'Schedule',
  description: 'Emits an event at an interval, or by a cron expression.',
  version: '1.0.0',
  props: {
    timer: {
      type: '$.interface.timer',
      label: 'When',
      description: '`{"intervalSeconds": 900}` or `{"cron": "0 9 * * 1-5", "timezone": "Europe/Berlin"}`.',
      default: { intervalSeconds: 900 },
    },
    data: {
      type: 'any',
      label: 'Data',
      description: 'What each event has as `data`; any JSON value.',
      optional: true,
    },
  },

  run(event) {
    const { timestamp } = event;
    // Invoked by hand, it has no time of its own.
    const ts = typeof timestamp === 'number' ? timestamp * 1000 : Date.now();
    const data = this.data === undefined ? {} : { data: this.data };
    this.$emit({ ...event, ...data }, { summary: new Date(ts).toISOString(), ts });
  },
};
