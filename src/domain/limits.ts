// Every quantity has a limit, and every limit is here. Units end the names.

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

  // searches
  searchedTextChars: 256,
  /** Records that one request looks at, and bytes that it reads of them; then it answers how far it came. */
  searchedRecords: 10_000,
  searchedBytes: 8 * 1024 * KIB,
  /** Records and bytes that are read in one go: SQLite's reads stop everything else meanwhile. */
  searchStepRecords: 500,
  searchStepBytes: 1024 * KIB,
  /** Length of an error's message in lists. */
  listedMessageChars: 500,

  // streams
  /** Open streams of one process. */
  streams: 20_000,
  /** Records read at once, for one reader or for all readers at the same position. */
  streamRecords: 100,
  streamBytes: 256 * KIB,
  /** Exports under way, of one owner at one process. */
  exportsPerOwner: 4,

  // resources
  nameChars: 255,
  descriptionChars: 4096,
  urlChars: 2048,
  /** Request line and headers: a webhook's url, name and description fit into the query, percent-encoded. */
  requestHeaderBytes: 64 * 1024,
  /** Length of one name in a request's path: the longest is a key of a data store. */
  pathPartChars: 256,
  eventNameChars: 128,
  stepsPerWorkflow: 64,
  triggersPerWorkflow: 32,
  namespaceChars: 64,
  codeBytes: 1024 * KIB,
  apiBodyBytes: 8 * 1024 * KIB,
  /** Values in the body of an API request, apart from events and records' values: ten thousand options of a prop have 30,000. */
  bodyValues: 50_000,
  /** Values in such a body in all: bytes that are stored unchanged are walked several times, 8 MB of `[],` in 0.1 s each. */
  verbatimValues: 500_000,
  /** What such a body may contain besides its event, whose own limit is `ERRAND_MAX_BODY_BYTES`. */
  besideEventBytes: 64 * KIB,
  /** Fields of a form or query that becomes an event. */
  formFields: 10_000,
  /** Connections of one process: more than `streams`, which have one each. */
  connections: 25_000,
  connectionsPerAddress: 1024,
  /** Requests of one connection that wait for earlier answers. */
  requestsAhead: 256,
  /** Bodies that are still arriving, of all owners, and of one owner. */
  bodyMemoryBytes: 128 * 1024 * KIB,
  ownerBodyMemoryBytes: 64 * 1024 * KIB,
  /** What a component describes, and what it answers while it is configured. */
  propsPerComponent: 1000,
  shapeBytes: 2 * 1024 * KIB,
  componentQueryMs: 30 * SECOND_MS,
  apiKeyChars: 24,
  /** Largest lag of `last_used_at`: a key in constant use is written once in that time. */
  keyUsedMs: MINUTE_MS,

  // audit log
  auditPathChars: 512,
  /** Records per key and minute for refused requests; one more record counts the rest. */
  auditedRefusals: 20,
  secretKeyChars: 32,

  // processes of code
  /** Descriptors of one process: what the kernel keeps for a descriptor (a socket's buffers) is not part of a process's memory. */
  codeDescriptors: 512,
  /** Where connections go through the server, each takes three descriptors (256: `egressConnections`). */
  codeDescriptorsThroughServer: 1024,
  /** Size of one file. */
  codeFileBytes: 1024 * 1024 * KIB,
  /** Threads in the cgroup of one process, where cgroups exist: Node itself has about a dozen. */
  codeGroupThreads: 128,
  /** CPU of one process with a cgroup, in percent of one core: JavaScript takes one, and V8's threads more. */
  codeCpuPercent: 150,
  /** Threads of one user of the system, in all its processes. */
  codeThreads: 1024,

  // deployments
  /** Deployments of one workflow or source, whatever their age; besides the active one, and those that waiting runs need. */
  deploymentsKept: 20,
  /** How long a deployment must stand before older ones are deleted: longer than a run may take. */
  deploymentsSettledMs: HOUR_MS,

  // bundling
  /** Time of one bundle, from its begin on. */
  bundleMs: 30 * SECOND_MS,
  /** Memory of all bundles at a time, including the bundler. */
  bundlerMemoryMb: 1024,
  bundlesAtOnce: 4,
  bundlesWaiting: 10_000,
  /** Files of components that one request checks, and how long it begins with another one: each starts a process. */
  componentsChecked: 100,
  componentsCheckMs: 30 * SECOND_MS,

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
  /** Bytes of the values on one page of records; a page has at least one record. */
  recordPageBytes: 1024 * KIB,
  keysPerPage: 1000,
  /** Records deleted in one transaction: expired ones, and those of deleted or cleared stores. */
  sweptRecords: 200,
  /** Requests of a run that wait for their answer at a time, and their bytes. */
  openChildRequests: 16,
  openChildRequestBytes: 4 * 1024 * KIB,
  childRequestArgsChars: 8 * KIB,

  // events
  idempotencyKeyChars: 255,
  idempotencyMs: DAY_MS,
  errorHops: 16,
  lineageIds: 64,

  // errors of other programs
  /** Of what a program tells about an error, beside its message, stack and event. */
  reportContextBytes: 64 * KIB,
  /** Workflows of an owner, up to which the first error of a service makes one more. */
  workflowsWithServices: 1000,
  /** Items of one envelope, and length of each header. */
  envelopeItems: 1000,
  envelopeHeaderBytes: 16 * KIB,
  /** Values in the JSON of one event of an envelope: the server parses it. */
  envelopeEventValues: 50_000,

  // groups of errors
  /** Of a message, what the rules of a workflow match. */
  groupedMessageChars: 8 * KIB,
  groupingRules: 50,
  groupNameChars: 128,
  groupingPatternChars: 512,
  groupNoteChars: 4096,
  maxMuteMs: 366 * DAY_MS,
  maxMuteErrors: 1_000_000,
  /** Hours of a group's histogram that are shown. */
  groupHours: 168,
  groupDeployments: 50,
  groupSamples: 5,
  /** Beyond the retention of its errors: how long a group without errors is kept, with its state and note. */
  groupKeptMs: 90 * DAY_MS,
  groupsPerEmitter: 1000,
  /** Groups that retention examines in one transaction. */
  groupsPruned: 500,

  // faults
  messageBytes: 8 * KIB,
  stackFrames: 50,
  frameBytes: KIB,
  codeChars: 128,

  // runs
  timeoutMs: 30 * SECOND_MS,
  scheduleTimeoutMs: 60 * SECOND_MS,
  /** Missed ticks of a cron expression that are counted one by one, some 50 µs each. */
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
  /** Runs of one workflow that a throttle lets begin in an interval, and the interval. */
  maxThrottle: 1000,
  minThrottleIntervalMs: 100,
  maxThrottleIntervalMs: DAY_MS,
  rescues: 3,
  emissionsPerRun: 10_000,
  exportsPerRun: 10_000,
  dbWritesPerRun: 10_000,
  /** Values in the JSON that a component answers while it is configured: the server parses it. */
  componentQueryValues: 250_000,
  /** Nesting of arrays and objects in events, and in what a run returns, exports and sends. */
  nestingDepth: 256,
  /** Ids per channel of a source that `unique` compares with. */
  uniqueIds: 100,
  /** Channels per source whose ids are remembered: those with the latest emissions. */
  dedupeChannels: 100,
  /** Largest distance of a source's `delivery_ts`. */
  laterMs: 366 * DAY_MS,
  /** Due emissions of sources that are emitted in one transaction. */
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
  /** How long such a caller waits in all, including the queue: longer than a run may take. */
  callerMs: 15 * MINUTE_MS,
  maxWaitMs: 366 * DAY_MS,
  suspendMs: DAY_MS,
  reruns: 10,
  maxReruns: 1_000_000,

  // requests that runs ask for
  requestMethodChars: 32,
  requestUrlChars: 8 * KIB,
  requestBodyBytes: 1024 * KIB,
  /** Length of a name in DNS. */
  hostChars: 253,
  /** From the request on: how long answers may postpone it (Retry-After) without an attempt being counted. */
  requestPutOffMs: 3 * DAY_MS,

  // connections of code in a jail that reaches public addresses
  /** Connections of one process at a time. */
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
  /** Deliveries examined in one transaction. */
  operationStep: 500,
  /** Deliveries of one webhook that operations let wait at a time. */
  resendsWaiting: 256,

  // replaying many
  /** Replays of one operation that are under way at a time. */
  replaysUnderWay: 128,
  /** Bytes of errors that one step of an operation reads; a single one may be larger. */
  replayStepBytes: 4 * 1024 * KIB,
  /** Errors that a request may name, and that go ahead of the others. */
  replayedIds: 1000,
  replayCanary: 1000,
  replaysPerSecond: 1000,
  replaysPerSecondMin: 0.001,
  /** Errors that a dry run shows. */
  replaySample: 5,

  // changes of a source
  /** How long a change waits for the previous one. */
  sourceChangeMs: 30 * SECOND_MS,

  // nodes that share a database
  nodes: 32,
  beatMs: 1500,
  nodeLeaseMs: 6 * SECOND_MS,
  answerKeptMs: 10 * MINUTE_MS,

  // counters that are compared with their rows
  countersEveryMs: HOUR_MS,
  /** Delay after nodes were found dead or a counter was found wrong; also the shortest interval between comparisons. */
  countersSoonMs: 10 * SECOND_MS,
  /** Open rows; a store of one process counts no more of them while all else waits. */
  openCounted: 100_000,

  // quotas of owners
  maxQuotaProcesses: 256,
  maxQuotaCpuSeconds: 60_000,
  maxQuotaRequests: 1_000_000,
  maxQuotaBytes: 2 ** 50,
  /** Until quotas set at one node are known at the others. */
  quotasReadMs: 2 * SECOND_MS,
  /** Interval between two measurements of stored bytes, while any owner has such a quota, and otherwise. */
  measuredMs: 5 * MINUTE_MS,
  measuredUnaskedMs: HOUR_MS,
  /** Pause between two steps of a measurement. */
  measuringPauseMs: 20,

  // watches and notices
  minWatchMs: MINUTE_MS,
  maxWatchMs: 366 * DAY_MS,
  /** Window in which errors are counted. */
  maxRatioWindowMs: 7 * DAY_MS,
  /** How often it is kept that a server was there to look, and how long none may have been before watches are excused for it. */
  watchKeptMs: 10 * SECOND_MS,
  watchGapMs: 25 * SECOND_MS,
  /** After a note: how long until its watch is looked at, however many more come meanwhile. */
  watchPauseMs: SECOND_MS,
  heartbeatsPerOwner: 1000,
  minHeartbeatMs: 10 * SECOND_MS,
  /** Longer than `watchGapMs`: pings that come as often as they may are not missed over a stop that is not excused. */
  minHeartbeatGraceMs: 30 * SECOND_MS,
  heartbeatGraceMs: 5 * MINUTE_MS,
  /** Of what a job has written, what is kept of it. */
  heartbeatLogBytes: 100_000,
  digestWindowMs: DAY_MS,
} as const;
