import { ConfigurationError } from '@pipedream/platform';
import acme from '../../acme.app.mjs';

export default {
  key: 'acme-get-task',
  name: 'Get Task',
  version: '0.0.1',
  type: 'action',
  props: {
    acme,
    projectId: {
      propDefinition: [acme, 'projectId'],
      optional: true,
    },
    taskId: {
      propDefinition: [
        acme,
        'taskId',
        (c) => ({
          projectId: c.projectId,
        }),
      ],
    },
  },
  async run({ $ }) {
    if (!this.taskId.startsWith('t')) {
      throw new ConfigurationError('**Task ID** begins with t');
    }
    const response = await this.acme.makeRequest({
      $,
      path: `/tasks/${this.taskId}`,
      returnFullResponse: true,
    });
    $.export('$summary', `Task ${response.data.id} with status ${response.status}`);
    return {
      status: response.status,
      etag: response.headers.etag,
      data: response.data,
    };
  },
};
