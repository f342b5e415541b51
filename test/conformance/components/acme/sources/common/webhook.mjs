import { ConfigurationError } from '@pipedream/platform';
// biome-ignore lint/style/useNodejsImportProtocol: public components write it so
import crypto from 'crypto';
import app from '../../acme.app.mjs';
import constants from '../../common/constants.mjs';
import utils from '../../common/utils.mjs';

export default {
  props: {
    app,
    db: '$.service.db',
    http: {
      type: '$.interface.http',
      customResponse: true,
    },
    projectId: {
      propDefinition: [app, 'projectId'],
    },
  },
  hooks: {
    async deploy() {
      console.log('Retrieving historical events...');
      const stream = this.app.getResourcesStream({
        resourcesFn: this.getResourcesFn(),
        resourcesFnArgs: this.getResourcesFnArgs(),
        resourcesName: 'tasks',
      });
      const resources = await utils.streamIterator(stream);
      resources.filter(this.isRelevant).forEach(this.processResource);
    },
    async activate() {
      const {
        http: { endpoint: url },
        createHook,
        setHookId,
        setSecret,
        getEvents,
        projectId,
      } = this;

      const secret = crypto.randomBytes(16).toString('hex');
      const { id } = await createHook({
        data: {
          url,
          project: projectId,
          events: getEvents(),
          secret,
        },
      });
      setHookId(id);
      setSecret(secret);
    },
    async deactivate() {
      const { deleteHook, getHookId } = this;
      const hookId = getHookId();
      if (hookId) {
        await deleteHook({
          hookId,
        });
      }
    },
  },
  methods: {
    setHookId(value) {
      this.db.set('hookId', value);
    },
    getHookId() {
      return this.db.get('hookId');
    },
    setSecret(value) {
      this.db.set('secret', value);
    },
    getSecret() {
      return this.db.get('secret');
    },
    getEvents() {
      throw new ConfigurationError('getEvents is not implemented');
    },
    generateMeta() {
      throw new ConfigurationError('generateMeta is not implemented');
    },
    getResourcesFn() {
      return this.app.listTasks;
    },
    getResourcesFnArgs() {
      return {
        params: {
          project: this.projectId,
        },
      };
    },
    isRelevant() {
      return true;
    },
    isSignatureValid(signature, bodyRaw) {
      const digest = crypto.createHmac('sha256', this.getSecret()).update(bodyRaw).digest('hex');
      return digest === signature;
    },
    processResource(resource) {
      this.$emit(resource, this.generateMeta(resource));
    },
    createHook(args = {}) {
      return this.app.post({
        debug: true,
        path: '/hooks',
        ...args,
      });
    },
    deleteHook({ hookId, ...args } = {}) {
      return this.app.delete({
        debug: true,
        path: `/hooks/${hookId}`,
        ...args,
      });
    },
  },
  async run({ body, bodyRaw, headers: { [constants.SIGNATURE_HEADER]: signature } }) {
    const {
      http: { respond },
      isSignatureValid,
      processResource,
    } = this;

    if (!isSignatureValid(signature, bodyRaw)) {
      console.log('Invalid signature!');
      return respond({
        status: 401,
      });
    }

    respond({
      status: '202',
      headers: {
        'x-taken': 'yes',
      },
      body: {
        ok: true,
      },
    });
    processResource(body);
  },
};
