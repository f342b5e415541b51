import acme from '../../acme.app.mjs';

export default {
  key: 'acme-create-task',
  name: 'Create Task',
  description: 'Creates a task. [See the documentation](https://acme.example/docs)',
  version: '0.0.1',
  annotations: {
    destructiveHint: false,
    openWorldHint: true,
    readOnlyHint: false,
  },
  type: 'action',
  props: {
    acme,
    projectId: {
      propDefinition: [acme, 'projectId'],
    },
    name: {
      type: 'string',
      label: 'Name',
    },
    color: {
      propDefinition: [acme, 'color'],
      label: 'Color of the task',
    },
    priority: {
      type: 'integer',
      label: 'Priority',
      default: 3,
      min: 1,
      max: 5,
    },
    labels: {
      type: 'string[]',
      label: 'Labels',
      optional: true,
    },
  },
  methods: {
    createTask(args = {}) {
      return this.acme.post({
        path: '/tasks',
        ...args,
      });
    },
  },
  async run({ $ }) {
    const { acme, createTask, projectId, ...data } = this;
    const response = await createTask({
      $,
      headers: {
        'x-project': projectId,
        'x-unset': undefined,
      },
      data: {
        ...data,
        note: undefined,
      },
    });
    $.export('$summary', `Successfully created task ${response.id}`);
    return response;
  },
};
