// biome-ignore lint/style/useNodejsImportProtocol: public components write it so
import crypto from 'crypto';
import app from '../../acme.app.mjs';

export default {
  key: 'acme-new-sms',
  name: 'New SMS (Instant)',
  description: 'Emit new event when a message comes in. The vendor signs the address that it was given, and the fields',
  version: '0.0.1',
  type: 'source',
  dedupe: 'unique',
  props: {
    app,
    db: '$.service.db',
    http: {
      type: '$.interface.http',
      customResponse: true,
    },
    authToken: {
      type: 'string',
      label: 'Auth Token',
      secret: true,
    },
  },
  hooks: {
    async activate() {
      const { sid } = await this.app.post({
        path: '/numbers',
        data: {
          smsUrl: this.http.endpoint,
        },
      });
      this.db.set('sid', sid);
    },
    async deactivate() {
      await this.app.delete({
        path: `/numbers/${this.db.get('sid')}`,
      });
    },
  },
  methods: {
    getSignature(url, fields = {}) {
      const data = Object.keys(fields)
        .sort()
        .reduce((text, name) => text + name + fields[name], url);
      return crypto.createHmac('sha1', this.authToken).update(Buffer.from(data, 'utf-8')).digest('base64');
    },
    isSame(one, other = '') {
      const [first, second] = [Buffer.from(one), Buffer.from(other)];
      return first.length === second.length && crypto.timingSafeEqual(first, second);
    },
    isValid({ query, headers, body, bodyRaw }) {
      // What the vendor calls is an endpoint without a path, and a URL without a path ends in a slash.
      const url = `${this.http.endpoint}/`;
      const signature = headers['x-acme-signature'];
      if (!query.bodySHA256) {
        return this.isSame(this.getSignature(url, body), signature);
      }
      const sha256 = crypto.createHash('sha256').update(bodyRaw).digest('hex');
      const isSigned = this.isSame(this.getSignature(`${url}?bodySHA256=${query.bodySHA256}`), signature);
      return isSigned && sha256 === query.bodySHA256;
    },
  },
  async run(event) {
    if (!this.isValid(event)) {
      this.http.respond({
        status: 401,
        body: 'Unauthorized',
      });
      return;
    }
    this.http.respond({
      status: 200,
      headers: {
        'Content-Type': 'text/xml',
      },
      body: '<Response></Response>',
    });
    const { body } = event;
    this.$emit(body, {
      id: body.MessageSid,
      summary: `New message from ${body.From}`,
      ts: Date.now(),
    });
  },
};
