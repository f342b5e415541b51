import common from '../common/webhook.mjs';
import sampleEmit from './test-event.mjs';

export default {
  ...common,
  key: 'acme-new-task-instant',
  name: 'New Task (Instant)',
  description: 'Emit new event when a task is created. [See the documentation](https://acme.example/docs)',
  version: '0.0.{{ts}}',
  type: 'source',
  dedupe: 'unique',
  methods: {
    ...common.methods,
    getEvents() {
      return ['task.created'];
    },
    isRelevant(task) {
      return !task.draft;
    },
    generateMeta(task) {
      return {
        id: task.id,
        summary: `New Task: ${task.name}`,
        ts: Date.parse(task.created_at),
      };
    },
  },
  sampleEmit,
};
