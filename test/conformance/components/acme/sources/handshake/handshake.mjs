import app from '../../acme.app.mjs';

export default {
  key: 'acme-handshake',
  name: 'Shaken Hands',
  description: 'The vendor calls the endpoint, and answers the hook only when it got its secret back',
  version: '0.0.2',
  type: 'source',
  props: {
    app,
    db: '$.service.db',
    http: {
      type: '$.interface.http',
      customResponse: true,
    },
    projectIds: {
      type: 'string[]',
      label: 'Projects',
    },
  },
  hooks: {
    async activate() {
      const hooks = await Promise.all(
        this.projectIds.map((project) =>
          this.app.post({
            path: '/hooks',
            data: {
              project,
              url: this.http.endpoint,
            },
          }),
        ),
      );
      this.db.set(
        'hookIds',
        hooks.map(({ id }) => id),
      );
    },
  },
  async run({ headers, body }) {
    const secret = headers['x-hook-secret'];
    if (secret) {
      this.db.set(`secret-${secret}`, true);
      return this.http.respond({
        status: 200,
        headers: {
          'x-hook-secret': secret,
        },
      });
    }
    this.http.respond({
      status: 200,
    });
    this.$emit({
      body,
      hookIds: this.db.get('hookIds'),
      secrets: ['p1', 'p2'].filter((project) => this.db.get(`secret-${project}`)),
    });
  },
};
