// Every quantity has a limit, and every limit has one place. Units end the names.

export const KIB = 1024;
export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export const LIMITS = {
  // lists
  listedPerEmitterAndName: 100,
  pageRecords: 100,
  countedRecords: 10_000,

  // streams
  /** Open at one process. */
  streams: 20_000,
  /** Read at once, for one reader or for all that are at the same place. */
  streamRecords: 100,
  streamBytes: 256 * KIB,

  // resources
  nameChars: 255,
  descriptionChars: 4096,
  urlChars: 2048,
  /** Request line and headers: a webhook's url, name and description fit into the query, percent-encoded. */
  requestHeaderBytes: 64 * 1024,
  /** Of one name in the path of a request: the longest is a key of a data store. */
  pathPartChars: 256,
  eventNameChars: 128,
  stepsPerWorkflow: 64,
  triggersPerWorkflow: 32,
  namespaceChars: 64,
  codeBytes: 1024 * KIB,
  apiBodyBytes: 8 * 1024 * KIB,
  /** Values in the body of an API request, events and records' values apart: ten thousand options of a prop have 30,000. */
  bodyValues: 50_000,
  /** Values in such a body all in all: bytes that go on as they came are walked over several times, 8 MB of `[],` in 0.1 s each. */
  verbatimValues: 500_000,
  /** What such a body may have beside its event, whose own limit is `ERRAND_MAX_BODY_BYTES`. */
  besideEventBytes: 64 * KIB,
  /** Fields of a form or a query that becomes an event. */
  formFields: 10_000,
  /** Of one process: more than `streams`, which have one each. */
  connections: 25_000,
  connectionsPerAddress: 1024,
  /** Of one connection, that wait for the answers before theirs. */
  requestsAhead: 256,
  /** Bodies that are still arriving, together, and those of one owner. */
  bodyMemoryBytes: 128 * 1024 * KIB,
  ownerBodyMemoryBytes: 64 * 1024 * KIB,
  /** What a component says of itself, and what it answers while it is being configured. */
  propsPerComponent: 1000,
  shapeBytes: 2 * 1024 * KIB,
  componentQueryMs: 30 * SECOND_MS,
  apiKeyChars: 24,
  /** How far `last_used_at` may lag behind: a key that is used all the time is written once in that time. */
  keyUsedMs: MINUTE_MS,

  // audit log
  auditPathChars: 512,
  /** Records of one key in a minute for what it is refused; one more counts the rest. */
  auditedRefusals: 20,
  secretKeyChars: 32,

  // processes of code
  /** Open in one of them: what the kernel keeps for a descriptor (a socket's buffers) counts as no process's memory. */
  codeDescriptors: 512,
  /** Where connections go through the server, each takes three of them (256: `egressConnections`). */
  codeDescriptorsThroughServer: 1024,
  /** Of one file. */
  codeFileBytes: 1024 * 1024 * KIB,
  /** In the cgroup of one process, where there are cgroups: Node itself has about a dozen. */
  codeGroupThreads: 128,
  /** Of one core, there: what JavaScript takes, and V8's threads beside it. */
  codeCpuPercent: 150,
  /** Of one user, in all its processes. */
  codeThreads: 1024,

  // deployments
  /** Of one workflow or source, however old; besides the active one, and those that runs go on with. */
  deploymentsKept: 20,
  /** How long it must stand unchanged before older ones go: longer than a run may take. */
  deploymentsSettledMs: HOUR_MS,

  // bundling
  /** Of one bundle, from its begin on. */
  bundleMs: 30 * SECOND_MS,
  /** Of all that is bundled at a time, with the bundler itself. */
  bundlerMemoryMb: 1024,
  bundlesAtOnce: 4,
  bundlesWaiting: 10_000,

  // accounts
  appChars: 128,
  accountFields: 100,
  accountFieldChars: 128,
  accountBytes: 64 * KIB,

  // data stores
  recordsPerDataStore: 100_000,
  dataStoreBytes: 1024 * 1024 * KIB,
  recordKeyChars: 255,
  recordBytes: 1024 * KIB,
  maxRecordTtlMs: 3650 * DAY_MS,
  /** Values of one page of records together, as soon as there is one. */
  recordPageBytes: 1024 * KIB,
  keysPerPage: 1000,
  /** Records deleted in one transaction, of stores that are gone or cleared and of those that have expired. */
  sweptRecords: 200,
  /** Questions of a run that wait for their answer at a time, and the bytes that come with them. */
  openChildRequests: 16,
  openChildRequestBytes: 4 * 1024 * KIB,
  childRequestArgsChars: 8 * KIB,

  // events
  idempotencyKeyChars: 255,
  idempotencyMs: DAY_MS,
  errorHops: 16,
  lineageIds: 64,

  // faults
  messageBytes: 8 * KIB,
  stackFrames: 50,
  frameBytes: KIB,
  codeChars: 128,

  // runs
  timeoutMs: 30 * SECOND_MS,
  scheduleTimeoutMs: 60 * SECOND_MS,
  /** Of a cron expression: counted one by one, some 50 µs each. */
  missedTicks: 100,
  hooksTimeoutMs: 60 * SECOND_MS,
  maxTimeoutMs: 750 * SECOND_MS,
  memoryMb: 256,
  maxMemoryMb: 4096,
  concurrency: 8,
  maxConcurrency: 1000,
  queueLimit: 10_000,
  maxQueueLimit: 1_000_000,
  resultBytes: 6 * 1024 * KIB,
  logBytes: 1024 * KIB,
  /** What a log line costs beside its text. */
  logLineBytes: 64,
  /** Of one workflow, that a throttle lets begin in an interval, and the interval. */
  maxThrottle: 1000,
  minThrottleIntervalMs: 100,
  maxThrottleIntervalMs: DAY_MS,
  rescues: 3,
  emissionsPerRun: 10_000,
  exportsPerRun: 10_000,
  dbWritesPerRun: 10_000,
  /** Of JSON that a component answers while it is being configured: the server parses that. */
  componentQueryValues: 250_000,
  /** Of arrays and objects within each other, in events that come in, and in what a run returns, exports and sends. */
  nestingDepth: 256,
  /** Of each channel of a source: the ids that `unique` compares with. */
  uniqueIds: 100,
  /** Of one source: channels whose ids dedupe remembers, those with the latest emissions. */
  dedupeChannels: 100,
  /** How far ahead a source may set `delivery_ts`. */
  laterMs: 366 * DAY_MS,
  /** Emissions whose time has come, emitted in one transaction. */
  laterStep: 200,

  // trying runs again
  runAttempts: 20,
  retryBaseMs: SECOND_MS,
  maxRetryBaseMs: DAY_MS,
  retryMaxMs: HOUR_MS,
  maxRetryMaxMs: 7 * DAY_MS,

  // waits of runs
  /** From the event on: how long a caller with `custom_response` waits over delays and retries of the run. */
  answerWaitMs: MINUTE_MS,
  /** How long it waits at all, also for a run that is queued: longer than a run may take. */
  callerMs: 15 * MINUTE_MS,
  maxWaitMs: 366 * DAY_MS,
  suspendMs: DAY_MS,
  reruns: 10,
  maxReruns: 1_000_000,

  // requests that runs ask for
  requestMethodChars: 32,
  requestUrlChars: 8 * KIB,
  requestBodyBytes: 1024 * KIB,
  /** Of a name in DNS. */
  hostChars: 253,
  /** From the request on: how long an answer may put it off (Retry-After) without that counting as an attempt. */
  requestPutOffMs: 3 * DAY_MS,

  // connections of code in a jail that reaches public addresses
  /** Of one process at a time. */
  egressConnections: 256,
  egressIdleMs: 5 * MINUTE_MS,

  // deliveries
  connectTimeoutMs: 10 * SECOND_MS,
  attemptTimeoutMs: 15 * SECOND_MS,
  maxAttemptTimeoutMs: 60 * SECOND_MS,
  responseBytes: 64 * KIB,
  responseHeaderBytes: 32 * KIB,
  keptResponseBytes: 4 * KIB,
  inFlightPerWebhook: 8,
  retryAfterMs: DAY_MS,
  retryDelaysMs: [
    5 * SECOND_MS,
    MINUTE_MS,
    5 * MINUTE_MS,
    30 * MINUTE_MS,
    2 * HOUR_MS,
    5 * HOUR_MS,
    10 * HOUR_MS,
    14 * HOUR_MS,
    20 * HOUR_MS,
    24 * HOUR_MS,
  ],
  retryJitter: 0.1,
  retries: 32,
  maxRetryDelayMs: 7 * DAY_MS,
  maxInFlightPerWebhook: 256,
  /** Requests in an interval of a webhook's rate limit, and the interval. */
  maxRate: 10_000,
  maxRateIntervalMs: DAY_MS,
  headersPerWebhook: 32,
  headerNameChars: 128,
  headerValueChars: 4096,
  secretOverlapMs: DAY_MS,
  maxSecretOverlapMs: 30 * DAY_MS,
  secretsPerWebhook: 10,

  // a webhook's health
  exhaustedInRow: 3,
  failingMs: DAY_MS,
  disablingMs: 5 * DAY_MS,

  // resending many
  /** Deliveries looked at in one transaction. */
  operationStep: 500,
  /** Deliveries of one webhook that wait at a time because of an operation. */
  resendsWaiting: 256,

  // changes of a source
  /** How long one waits for another one to be over. */
  sourceChangeMs: 30 * SECOND_MS,

  // nodes that share a database
  nodes: 32,
  beatMs: 1500,
  nodeLeaseMs: 6 * SECOND_MS,
  answerKeptMs: 10 * MINUTE_MS,

  // counters that are compared with their rows
  countersEveryMs: HOUR_MS,
  /** After nodes were taken for gone, or a counter was seen to be wrong; and from one look to the next, at least. */
  countersSoonMs: 10 * SECOND_MS,
  /** Of open rows, more than a store of one process counts while nothing else is done. */
  openCounted: 100_000,

  // quotas of owners
  maxQuotaProcesses: 256,
  maxQuotaCpuSeconds: 60_000,
  maxQuotaRequests: 1_000_000,
  maxQuotaBytes: 2 ** 50,
  /** From what one node sets to when the others know it. */
  quotasReadMs: 2 * SECOND_MS,
  /** From one measuring of what owners have stored to the next, while any of them has a quota of it, and else. */
  measuredMs: 5 * MINUTE_MS,
  measuredUnaskedMs: HOUR_MS,
  /** Between two steps of it. */
  measuringPauseMs: 20,

  // notices
  digestWindowMs: DAY_MS,
} as const;
