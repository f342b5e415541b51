// Mutations of the HTTP interface, and of the receiver's half.

import { type Mutation, of } from '../mutation.ts';

const HTTP = 'src/http';
const UNIT = 'test/unit/http';

export const HTTP_MUTATIONS: readonly Mutation[] = [
  ...of(`${HTTP}/access/still-good.ts`, ['test/http/streams.test.ts', `${UNIT}/access/stream-keys.test.ts`], {
    'streams: that of a revoked key goes on': ['key === undefined || !isGood(key, nowMs) ||', 'key === undefined ||'],
  }),
  ...of(`${HTTP}/routes/log/send-stream.ts`, ['test/http/streams.test.ts', `${UNIT}/access/stream-keys.test.ts`], {
    'streams: that of a deleted emitter goes on': [' && (await isThere())', ''],
    'streams: a reader that went away is kept': ["raw.on('close', () => open.close());", ''],
  }),
  ...of(`${HTTP}/routes/log/streams.ts`, ['test/http/streams.test.ts'], {
    "streams: another owner's emitter is heard": [
      '(isOfMany || EMITTERS.test(emitterId)) || !(await isThere()))',
      '(isOfMany || EMITTERS.test(emitterId)))',
    ],
  }),
  ...of(`${HTTP}/routes/log/error-stream.ts`, ['test/http/error-stream.test.ts'], {
    'errors: a stream of an emitter that is not there is silent': [
      "if (!(await isThere())) throw notFound('emitter', emitterId ?? '');",
      '',
    ],
  }),
  ...of(`${HTTP}/routes/log/export-errors.ts`, ['test/flows/error-export.test.ts', `${UNIT}/export-errors.test.ts`], {
    'errors: an export does not end when it must': ['if (!(await mayGoOn()))', 'if (false as boolean)'],
    'errors: an export skips a page': ['at = page.at(-1)?.entry ?? end;', 'at = end;'],
    'errors: an export has all, whatever is asked for': ['page.filter(isMeant)', 'page.filter(() => true)'],
  }),
  ...of(
    `${HTTP}/access/access.ts`,
    [
      `${UNIT}/access/access.test.ts`,
      `${UNIT}/access/auth.test.ts`,
      'test/http/access.test.ts',
      `${UNIT}/access/auth-headers.test.ts`,
    ],
    {
      'access: a route that says nothing is public': [
        "request.routeOptions.config.access ?? { access: 'admin' }",
        "request.routeOptions.config.access ?? { access: 'public' }",
      ],
      'access: scopes are not asked for': ['if (!request.is404) authorize(request.caller, access);', ''],
      'access: two keys': ["if (countOf(request.raw.rawHeaders, 'authorization') > 1) throw TWO_KEYS;", ''],
      'access: what is not there needs no key': ["isUnderKey(pathOf(request.url)) ? 'read' : 'public'", "'public'"],
      'access: a stopping server answers': [
        "if (draining() && !answersWhile.includes('stopping')) return STOPPING;",
        '',
      ],
      'access: a route may say nothing': ['if (access === undefined) {', 'if (false) {'],
    },
  ),
  ...of(`${HTTP}/access/access.ts`, ['test/flows/quotas.test.ts'], {
    'access: no limit of requests': ['deps.quotas.takeRequest(request.caller.ownerId);', ''],
  }),
  ...of(
    `${HTTP}/access/auth.ts`,
    [`${UNIT}/access/auth.test.ts`, 'test/http/keys.test.ts', 'test/http/access.test.ts'],
    {
      'auth: a revoked or expired key is good': ['if (key && isGood(key, nowMs)) return key;', 'if (key) return key;'],
      'auth: each scope is every scope': [
        'if (key.scopes.includes(scope)) return;',
        'if (key.scopes.length > 0) return;',
      ],
    },
  ),
  ...of(`${HTTP}/access/auth.ts`, ['test/flows/webhooks/http-sends.test.ts'], {
    'auth: readers see secrets': ["return scopes.includes('write');", "return scopes.includes('read');"],
  }),
  ...of(
    `${HTTP}/access/audit.ts`,
    [`${UNIT}/access/audit.test.ts`, `${UNIT}/access/audit-log.test.ts`, 'test/flows/audit.test.ts'],
    {
      'audit: the handler begins before it is written': [
        'await log.put(records);',
        'void log.put(records).catch(() => undefined);',
      ],
      'audit: the owner it is about does not see it': ['if (!isAbout) return [record];', 'return [record];'],
      'audit: DELETE is read': [
        "const READING: readonly string[] = ['GET', 'HEAD'];",
        "const READING: readonly string[] = ['GET', 'HEAD', 'DELETE'];",
      ],
    },
  ),
  ...of(
    `${HTTP}/ingress/ingress.ts`,
    ['test/http/http-trigger.test.ts', 'test/http/http-trigger-limits.test.ts', `${UNIT}/body/ingress.test.ts`],
    {
      'ingress: no token is asked for': ['if (tokenHash !== null && !isBearer(', 'if (false && !isBearer('],
      'ingress: a timer is an endpoint': [
        "trigger === undefined || trigger.kind === 'schedule'",
        'trigger === undefined',
      ],
    },
  ),
  ...of(`${HTTP}/ingress/ingress.ts`, [`${UNIT}/server/flood.test.ts`], {
    'ingress: the memory of a body is never given back': ['body.release();', ''],
  }),
  ...of(`${HTTP}/ingress/ingress.ts`, ['test/flows/quotas.test.ts'], {
    'ingress: no limit of requests': ['deps.quotas.takeRequest(trigger.ownerId);\n  const accepted', 'const accepted'],
  }),
  ...of(
    `${HTTP}/ingress/event.ts`,
    [
      `${UNIT}/body/ingress-event.test.ts`,
      `${UNIT}/body/ingress-raw.test.ts`,
      `${UNIT}/body/ingress.test.ts`,
      'test/http/http-answer.test.ts',
      'test/http/http-trigger.test.ts',
      'test/http/http-trigger-limits.test.ts',
    ],
    {
      'event: the token is shown to the code': ['...(isVerified && { authorization: undefined }),', ''],
      'event: a session is shown to the code': ['{ cookie: withoutSessions(cookie) }', '{ cookie }'],
      'event: nothing is too deep': ['checkDepth(depth);', ''],
      'event: bytes that are no text become text': ['if (!isUtf8(body)) return base64Json(body);\n  const', 'const'],
    },
  ),
  ...of(`${HTTP}/ingress/inflate.ts`, [`${UNIT}/body/inflate.test.ts`], {
    'inflate: what comes out is not counted': ['size > CHUNK_BYTES', 'false'],
    'inflate: what was refused stays counted': ['stream.destroy();\n      release();', 'stream.destroy();'],
  }),
  ...of(`${HTTP}/ingress/set-cookie.ts`, [`${UNIT}/body/cookies.test.ts`], {
    'set-cookie: its path is the one given': ["given === '/' ? endpointPath : endpointPath + given", 'given'],
    'set-cookie: it is for other hosts': ["['path', 'domain']", "['path']"],
  }),
  ...of(`${HTTP}/ingress/place.ts`, [`${UNIT}/server/endpoint-hosts.test.ts`], {
    'place: the case of a host counts': ['host.toLowerCase().replace', 'host.replace'],
    'place: a port belongs to the name': ['/\\.?(?::\\d*)?$/', '/\\.?$/'],
    'place: a dot belongs to the name': ['/\\.?(?::\\d*)?$/', '/(?::\\d*)?$/'],
    'place: an address in the request line is not read': [' ?? authorityOf(url)', ''],
    'place: the target stays an address': ['req.url = originForm(url);', ''],
    'place: the host of the address is ours': ['`${protocol}//${host}`', '`${protocol}//${name}`'],
    'place: an unknown name is of the API': [
      'if (!name.endsWith(suffix)) return null;',
      'if (!name.endsWith(suffix) || keyOfLabel(name.slice(0, -suffix.length)) === null) return null;',
    ],
  }),
  ...of(`${HTTP}/ingress/resume.ts`, [`${UNIT}/resume.test.ts`, 'test/flows/runs/wait-addresses.test.ts'], {
    'resume: looking at the address resumes': [
      "if (req.method === 'HEAD' || req.method === 'OPTIONS') {",
      'if (false) {',
    ],
    'resume: a prefetch resumes': ['if (isPrefetch(req)) {', 'if (false) {'],
  }),
  ...of(`${HTTP}/body/body.ts`, [`${UNIT}/body/body-limits.test.ts`], {
    'body: one of a byte too much': ['if (bytes > maxBytes) {', 'if (bytes > maxBytes + 1) {'],
    'body: a large one is read to its end': [
      "if (Number(length ?? 0) > limits.maxBytes && !limits.keepsStart) return { kind: 'too_large' };",
      '',
    ],
    'body: a refused one keeps its memory': ["if (read.kind !== 'whole' && counted > 0) release();", ''],
  }),
  ...of(`${HTTP}/body/body-memory.ts`, [`${UNIT}/body/bodies.test.ts`, `${UNIT}/server/flood.test.ts`], {
    'body memory: one owner takes all': [' || ofOwner > maxOwnerBytes', ''],
    'body memory: nothing is given back': ['heldBytes -= bytes;', ''],
  }),
  ...of(`${HTTP}/body/json-count.ts`, [`${UNIT}/body/json.test.ts`, `${UNIT}/body/bodies.test.ts`], {
    'json: one value more': ['if (values > limit) return true;', 'if (values > limit + 1) return true;'],
    'json: commas in strings count': [
      'if (byte === QUOTE) at = afterString(json, at) - 1;',
      'if (byte === QUOTE) continue;',
    ],
  }),
  ...of('src/verifier/verify.ts', ['test/unit/verifier/verify.test.ts'], {
    'verifier: an id with a dot': ["if (id.includes('.')) return", 'if (false) return'],
    'verifier: a second beyond the tolerance': ['- timestampS) > toleranceS', '- timestampS) > toleranceS + 1'],
    'verifier: the future is recent': [
      'Math.abs(Math.floor(nowMs / 1000) - timestampS)',
      '(Math.floor(nowMs / 1000) - timestampS)',
    ],
  }),
  ...of('src/verifier/keys.ts', ['test/unit/verifier/verify.test.ts'], {
    'verifier: a version is no matter': ["if (version !== 'v1') return false;", ''],
    'verifier: the version of a public key is no matter': ["if (version !== 'v1a') return false;", ''],
  }),
  ...of('src/verifier/replay.ts', ['test/unit/verifier/replay.test.ts'], {
    'verifier: a replay half a span later': ['young.has(key) || old.has(key)', 'young.has(key)'],
    'verifier: a retry is a replay': ['`${timestampS}.${id}`', '`${id}`'],
  }),
  ...of(`${HTTP}/wire/triggers.ts`, ['test/http/workflows/trigger-updates.test.ts'], {
    'kept token: though none is asked for': [
      "if (type === 'none' || token !== null) return { token };",
      'if (token !== null) return { token };',
    ],
    'kept token: an open address with bearer': [
      "keepsToken: type === 'bearer' ? 'required' : 'optional'",
      "keepsToken: 'optional'",
    ],
  }),
  ...of(`${HTTP}/ingress/event.ts`, ['test/flows/sources/sources-http.test.ts', 'test/http/http-trigger.test.ts'], {
    'source body: forms are JSON': ['return type !== FORM && ', 'return '],
    'source body: numbers are JSON': ['/^\\s*[[{]/', '/^\\s*[[{\\d]/'],
    'source body: JSON of any depth': [' || depth <= LIMITS.nestingDepth)', ' || true)'],
    'source body: of workflows, too': ['(isForSource && looksLikeJson', '(looksLikeJson'],
  }),
  ...of(`${HTTP}/ingress/ingress.ts`, ['test/flows/sources/sources-http.test.ts', 'test/http/http-answer.test.ts'], {
    'source answer: workflows that are silent get 200': [
      "answered.kind === 'silent' && isSource",
      "answered.kind === 'silent'",
    ],
    'source answer: a source that failed gets 200': ["answered.kind === 'silent' && isSource", 'isSource'],
  }),
];
