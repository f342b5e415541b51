// An app with an account: the component finds the account's fields in `$auth` of its app prop.

const slack = {
  type: 'app',
  app: 'slack',
  methods: {
    headers() {
      return { authorization: `Bearer ${this.$auth.oauth_access_token}` };
    },
  },
};

export default {
  name: 'Chat',
  version: '1.0.0',
  props: { http: '$.interface.http', slack },
  async run() {
    const { headers } = this.slack;
    this.$emit({ characters: headers().authorization.length });
  },
};
