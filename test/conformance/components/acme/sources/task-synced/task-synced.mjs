import acme from '../../acme.app.mjs';

export default {
  key: 'acme-task-synced',
  name: 'Task Synced',
  type: 'source',
  version: '0.0.1',
  dedupe: 'unique',
  props: {
    acme,
    db: '$.service.db',
    timer: {
      propDefinition: [acme, 'timer'],
    },
  },
  async run() {
    const tasks = await this.acme.syncTasks(this.db);
    tasks.forEach((task) => {
      this.$emit(task, {
        id: task.id,
        summary: `Task ${task.id}`,
        ts: new Date(),
      });
    });
  },
};
