// Mutations of what sends requests.

import { type Mutation, of } from '../mutation.ts';

const WEBHOOK = 'src/webhook';
const UNIT = 'test/unit/webhook';

export const WEBHOOK_MUTATIONS: readonly Mutation[] = [
  ...of('src/webhook/sign.ts', ['test/unit/webhook/sign.test.ts', 'test/unit/webhook/vectors.test.ts'], {
    'sign: an empty secret': ['if (key.length === 0) throw', 'if (false) throw'],
    'sign: halves that do not belong together': [
      'if (!publicBytesOf(key).equals(',
      'if (false && !publicBytesOf(key).equals(',
    ],
  }),
  ...of(`${WEBHOOK}/sign.ts`, [`${UNIT}/sign.test.ts`, `${UNIT}/vectors.test.ts`], {
    'sign: a secret that is over signs': ['untilMs === null || untilMs > nowMs', 'true'],
    'sign: no secret is no matter': [
      "if (signatures.length === 0) throw new Unsendable('there is no signing secret');",
      '',
    ],
    'sign: seconds are not signed': ['`${signable.id}.${signable.timestampS}.`', '`${signable.id}.`'],
  }),
  ...of(`${WEBHOOK}/hmac.ts`, [`${UNIT}/sign.test.ts`], {
    'hmac: a short body is not signed': [
      'message.set(body, BLOCK_BYTES + headBytes);',
      'message.fill(0, BLOCK_BYTES + headBytes);',
    ],
    'hmac: a long body is not signed': [".update(body).digest('base64')", ".digest('base64')"],
    'hmac: a long key is cut': ["key.length > BLOCK_BYTES ? hash('sha256', key, 'buffer') : key", 'key'],
  }),
  ...of(`${WEBHOOK}/judged-urls.ts`, [`${UNIT}/address.test.ts`], {
    'judged URLs: a judgement is kept for ever': ['at - since >= GOOD_FOR_MS ||', ''],
    'judged URLs: all are kept': ['|| kept.size >= KEPT', ''],
  }),
  ...of(`${WEBHOOK}/tunnel.ts`, [`${UNIT}/tunnel.test.ts`], {
    'tunnel: a literal is not judged': ['if (!judged.ok) return Promise.reject', 'if (false) return Promise.reject'],
    'tunnel: where it arrived is not judged': [
      'else if (!arrived.ok) socket.destroy(new ForbiddenTarget(arrived.reason));',
      '',
    ],
    'tunnel: no limit of time': [
      'const endLimit = limitTime(connectTimeoutMs, () => socket.destroy(new ConnectTimeout(phase, connectTimeoutMs)));',
      'const endLimit = () => limitTime;',
    ],
    'tunnel: a failed lookup is one of connecting': ['if (!error) phase = ', 'phase = '],
  }),
  ...of('src/time-limit.ts', [`${UNIT}/client.test.ts`], {
    'time limit: what arrived is judged before it is read': ['reading = setImmediate(over);', 'over();'],
    'time limit: an ended one goes on': ['clearTimeout(timer);', ''],
  }),
  ...of(`${WEBHOOK}/egress.ts`, [`${UNIT}/tunnel.test.ts`], {
    'egress: each process has places of its own for lookups': [
      'lookup: (name) => lookups.find(name, ownerId)',
      'lookup: (name) => new Lookups(lookup, { places: PLACES.code }).find(name, ownerId)',
    ],
  }),
  ...of(`${WEBHOOK}/own.ts`, [`${UNIT}/own.test.ts`], {
    'own: a name that is not found may be reached': ['isThere: () => true }', 'isThere: () => false }'],
    'own: another address of this machine may be reached': ['isOne(ip) || (isHere && isThisMachine(ip))', 'isOne(ip)'],
    'own: all ports are ours': ['service.port === port', 'true'],
  }),
  ...of(`${WEBHOOK}/lookup.ts`, [`${UNIT}/tunnel.test.ts`], {
    'lookup: a forbidden name is looked up': ['if (!name.ok) throw', 'if (false) throw'],
  }),
  ...of(`${WEBHOOK}/lookups.ts`, [`${UNIT}/lookups/lookups.test.ts`], {
    'lookups: one owner gets all places': [', places / 2);', ', places);'],
    'lookups: the next place is for the first one': ['countOf(underWay, ownerId), places', '0, places'],
    'lookups: slow names are as others': ['this.#slowNames.has(name) ?', 'false ?'],
    'lookups: a name waits for another owner': ['`${ownerId} ${name}`', 'name'],
    'lookups: a slow name stays slow': ['this.#slowNames.delete(name);\n    if', 'if'],
  }),
  ...of(`${WEBHOOK}/client.ts`, [`${UNIT}/client.test.ts`, `${UNIT}/connections.test.ts`], {
    'client: a literal is not judged': ['if (!judged.ok) {', 'if (false) {'],
    'client: where it arrived is not judged': [
      'else if (!arrived.ok) socket.destroy(new ForbiddenTarget(arrived.reason));',
      '',
    ],
  }),
  ...of(
    `${WEBHOOK}/exchange.ts`,
    [`${UNIT}/post.test.ts`, `${UNIT}/outcomes.test.ts`, `${UNIT}/hostile.test.ts`, `${UNIT}/connections.test.ts`],
    {
      'exchange: 103 is the answer': ['if (status < 200) return;', ''],
      'exchange: it is sent when its time is over': [
        'if (this.isDone) {\n      controller.abort(DROPPED);\n      return;\n    }',
        '',
      ],
      'exchange: our stop is not heard': ['else this.#stoppable?.add(this);', ''],
    },
  ),
  ...of(`${WEBHOOK}/retry-after.ts`, [`${UNIT}/retry-after.test.ts`], {
    'retry-after: of every status': ['!STATUSES.has(status) ||', ''],
    'retry-after: without a bound': ['Math.min(Math.ceil(waitMs), LIMITS.retryAfterMs)', 'Math.ceil(waitMs)'],
    'retry-after: seconds are milliseconds': ['seconds * SECOND_MS : Number.NaN', 'seconds : Number.NaN'],
  }),
  ...of(`${WEBHOOK}/post.ts`, [`${UNIT}/post.test.ts`, `${UNIT}/client.test.ts`, `${UNIT}/outcomes.test.ts`], {
    "post: the webhook's own limit of time is not taken": [
      'delivery.webhook?.settings.timeoutMs ?? timeoutMs',
      'timeoutMs',
    ],
    'post: a URL that has become forbidden is asked': [
      'if (!judged.ok) return forbidden(judged.reason);',
      'if (!judged.ok) throw new Error(judged.reason);',
    ],
    'post: NUL is kept': [".replaceAll('\\0', '\\ufffd')", ''],
  }),
];
