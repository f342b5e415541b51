// Environment → TracingSettings. Without an endpoint nothing is read, so that settings of other programs do no harm.

import { PROTOCOLS, SAMPLERS, type TracingSettings } from '../../otel/settings.ts';
import { readInteger, readOneOf, readUrl, type Setting } from './readers.ts';

type Env = Readonly<Record<string, string | undefined>>;

const OTLP = 'OTEL_EXPORTER_OTLP';
const PARENT_BASED = 'parentbased_';

/** Names, defaults and meanings as the documents have them. The packages of OpenTelemetry read the ones without `read`. */
export const TRACING_SETTINGS: readonly (Omit<Setting, 'read'> & Partial<Pick<Setting, 'read'>>)[] = [
  {
    name: `${OTLP}_ENDPOINT`,
    fallback: '',
    about: 'Where traces are sent, to `/v1/traces` there; none: nothing is traced',
    read: readUrl(['http:', 'https:']),
    isSecret: true,
  },
  {
    name: `${OTLP}_TRACES_ENDPOINT`,
    fallback: '',
    about: 'The same with its whole path; goes before',
    read: readUrl(['http:', 'https:']),
    isSecret: true,
  },
  {
    name: `${OTLP}_PROTOCOL`,
    fallback: PROTOCOLS[0],
    about: `One of ${PROTOCOLS.join(', ')}`,
    read: readOneOf(PROTOCOLS),
  },
  {
    name: `${OTLP}_HEADERS`,
    fallback: '',
    about: 'Headers of what is sent, such as `authorization=…`',
    isSecret: true,
  },
  { name: `${OTLP}_TIMEOUT`, fallback: '10000', about: 'Time for a batch, with what is tried again, in milliseconds' },
  { name: `${OTLP}_COMPRESSION`, fallback: 'none', about: '`gzip` or `none`' },
  { name: `${OTLP}_CERTIFICATE`, fallback: '', about: 'File of the authority that the receiver’s certificate is from' },
  { name: 'OTEL_SERVICE_NAME', fallback: 'errand', about: '`service.name` of all spans' },
  { name: 'OTEL_RESOURCE_ATTRIBUTES', fallback: '', about: 'Further attributes of all spans: `key=value`, by commas' },
  {
    name: 'OTEL_TRACES_SAMPLER',
    fallback: `${PARENT_BASED}always_on`,
    about: `Which traces that begin here are recorded: ${SAMPLERS.map((name) => PARENT_BASED + name).join(', ')}`,
    read: (value) => readOneOf(SAMPLERS)(value.replace(PARENT_BASED, '')),
  },
  {
    name: 'OTEL_TRACES_SAMPLER_ARG',
    fallback: '1',
    about: 'The share that `traceidratio` records, from 0 to 1',
    read: readRatio,
  },
  {
    name: 'OTEL_BSP_MAX_QUEUE_SIZE',
    fallback: '2048',
    about: 'Spans that wait to be sent; what comes beyond is dropped and counted',
    read: readInteger(1, 1_000_000),
  },
  {
    name: 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
    fallback: '512',
    about: 'Spans sent at once',
    read: readInteger(1, 1_000_000),
  },
  {
    name: 'OTEL_BSP_SCHEDULE_DELAY',
    fallback: '5000',
    about: 'Milliseconds between two batches that are not full',
    read: readInteger(1, 3_600_000),
  },
  { name: 'OTEL_SDK_DISABLED', fallback: 'false', about: '`true`: nothing is traced' },
];

/** Returns null when nothing is to be traced. `read`: reads one setting, and throws what the start is refused with. */
export function readTracing(env: Env, read: (setting: Setting) => unknown): TracingSettings | null {
  const isDisabled = env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER === 'none';
  if (isDisabled) return null;
  const of = <T>(name: string): T => {
    const setting = TRACING_SETTINGS.find((one) => one.name === name) as Setting;
    return read(setting) as T;
  };
  const whole = of<string | null>(`${OTLP}_TRACES_ENDPOINT`);
  const base = of<string | null>(`${OTLP}_ENDPOINT`);
  const url = whole ?? (base === null ? null : `${base}/v1/traces`);
  if (url === null) return null;
  return {
    url,
    protocol: of(`${OTLP}_PROTOCOL`),
    sampler: of('OTEL_TRACES_SAMPLER'),
    ratio: of('OTEL_TRACES_SAMPLER_ARG'),
    maxQueueSize: of('OTEL_BSP_MAX_QUEUE_SIZE'),
    maxBatchSize: of('OTEL_BSP_MAX_EXPORT_BATCH_SIZE'),
    delayMs: of('OTEL_BSP_SCHEDULE_DELAY'),
  };
}

function readRatio(value: string): number {
  const ratio = Number(value);
  if (value.trim() === '' || !(ratio >= 0 && ratio <= 1)) throw new Error('a number from 0 to 1');
  return ratio;
}
