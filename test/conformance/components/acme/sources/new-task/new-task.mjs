import common from '../common/polling.mjs';

export default {
  ...common,
  key: 'acme-new-task',
  name: 'New Task',
  description: 'Emit new event when a task is created',
  version: '0.1.2',
  type: 'source',
  dedupe: 'greatest',
  methods: {
    ...common.methods,
    generateMeta(task) {
      const ts = Date.parse(task.created_at);
      return {
        id: task.id,
        summary: `New task ${task.name}`,
        ts,
      };
    },
  },
};
