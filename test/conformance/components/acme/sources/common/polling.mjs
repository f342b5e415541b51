import { DEFAULT_POLLING_SOURCE_TIMER_INTERVAL } from '@pipedream/platform';
import acme from '../../acme.app.mjs';

export default {
  props: {
    acme,
    db: '$.service.db',
    timer: {
      type: '$.interface.timer',
      label: 'Polling schedule',
      default: {
        intervalSeconds: DEFAULT_POLLING_SOURCE_TIMER_INTERVAL,
      },
    },
  },
  methods: {
    _getLastDate() {
      return this.db.get('lastDate') || '1970-01-01T00:00:00.000Z';
    },
    _setLastDate(lastDate) {
      this.db.set('lastDate', lastDate);
    },
    async emitEvent(data) {
      this.$emit(data, this.generateMeta(data));
    },
    generateMeta() {
      throw new Error('generateMeta is not implemented');
    },
  },
  async run() {
    const since = this._getLastDate();
    const { tasks } = await this.acme.listTasks({
      params: {
        since,
        order: 'desc',
        unused: undefined,
      },
    });
    if (!tasks.length) {
      console.log('No new tasks, exiting');
      return;
    }
    this._setLastDate(tasks[0].created_at);
    tasks.forEach(this.emitEvent);
  },
};
