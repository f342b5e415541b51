import { axios } from '@pipedream/platform';
import constants from './common/constants.mjs';

export default {
  type: 'app',
  app: 'acme',
  propDefinitions: {
    projectId: {
      type: 'string',
      label: 'Project ID',
      description: 'The ID of the project',
      async options({ page, query }) {
        const { projects } = await this.listProjects({
          params: {
            page: page + 1,
            search: query,
          },
        });
        return projects.map(({ id: value, name: label }) => ({
          label,
          value,
        }));
      },
    },
    taskId: {
      type: 'string',
      label: 'Task ID',
      description: 'The ID of the task',
      async options({ projectId, prevContext: { cursor } }) {
        const { tasks, next } = await this.listTasks({
          params: {
            project: projectId,
            cursor,
          },
        });
        return {
          options: tasks.map(({ id }) => id),
          context: {
            cursor: next,
          },
        };
      },
    },
    timer: {
      type: '$.interface.timer',
      label: 'Polling schedule',
      default: {
        intervalSeconds: 60 * 15,
      },
    },
    color: {
      type: 'string',
      label: 'Color',
      optional: true,
      options: ['red', 'green'],
    },
  },
  methods: {
    _baseUrl() {
      return this.$auth.base_url;
    },
    _headers(headers = {}) {
      return {
        Authorization: `Bearer ${this.$auth.oauth_access_token}`,
        ...headers,
      };
    },
    makeRequest({ $ = this, path, headers, ...args }) {
      return axios($, {
        url: `${this._baseUrl()}${path}`,
        headers: this._headers(headers),
        ...args,
      });
    },
    post(args = {}) {
      return this.makeRequest({
        method: 'POST',
        ...args,
      });
    },
    delete(args = {}) {
      return this.makeRequest({
        method: 'DELETE',
        ...args,
      });
    },
    listProjects(args = {}) {
      return this.makeRequest({
        path: '/projects',
        ...args,
      });
    },
    listTasks(args = {}) {
      return this.makeRequest({
        path: '/tasks',
        ...args,
      });
    },
    async *getResourcesStream({ resourcesFn, resourcesFnArgs, resourcesName, max = constants.DEFAULT_MAX }) {
      let page = 1;
      let count = 0;
      while (true) {
        const { [resourcesName]: resources } = await resourcesFn({
          ...resourcesFnArgs,
          params: {
            ...resourcesFnArgs?.params,
            page,
          },
        });
        if (!resources?.length) {
          return;
        }
        for (const resource of resources) {
          yield resource;
          count += 1;
          if (count >= max) {
            return;
          }
        }
        page += 1;
      }
    },
    /** Takes the source's db, as apps with a sync token do. */
    async syncTasks(db) {
      const token = db.get('syncToken') ?? '*';
      const { tasks, token: next } = await this.listTasks({
        params: {
          token,
        },
      });
      db.set('syncToken', next);
      return tasks;
    },
  },
};
