// Counters, gauges and histograms, in the text format of Prometheus.
//
// prom-client has them, too, but comes with its default metrics and the API of OpenTelemetry: 89 modules and 3 MB for a server that no
// monitor may ever ask. So it is loaded with the first reading (metrics.ts), for what it alone knows.

/** The value of each label. */
type Labels<L extends string> = Readonly<Record<L, string>>;

interface MetricOptions {
  readonly name: string;
  readonly help: string;
}

export interface Metric {
  /** Resolves with the metric's lines, without a line break at the end. */
  text(): Promise<string>;
}

/** Counts up. Without labels it is shown from the start, with labels once that was counted. */
export class Counter<L extends string = never> implements Metric {
  readonly #head: MetricOptions;
  readonly #counts = new Map<string, number>();

  constructor(options: MetricOptions & ([L] extends [never] ? object : { readonly labels: readonly L[] })) {
    this.#head = options;
    if (!('labels' in options)) this.#counts.set('', 0);
  }

  /** Adds to the count of the labels, which are shown in the order in which they are given. */
  inc(...[labels, by = 1]: [L] extends [never] ? [] : [labels: Labels<L>, by?: number]): void {
    const shown = labels === undefined ? '' : labelsText(labels);
    this.#counts.set(shown, (this.#counts.get(shown) ?? 0) + by);
  }

  text(): Promise<string> {
    return Promise.resolve(linesOf('counter', this.#head, this.#counts));
  }
}

/** Has the value that was set last, 0 until then. */
export class Gauge implements Metric {
  readonly #head: MetricOptions;
  #value = 0;

  constructor(options: MetricOptions) {
    this.#head = options;
  }

  set(value: number): void {
    this.#value = value;
  }

  text(): Promise<string> {
    return Promise.resolve(linesOf('gauge', this.#head, [['', this.#value]]));
  }
}

interface ReadOptions extends MetricOptions {
  readonly type: 'counter' | 'gauge';
  /** The label by which `read` tells values apart. */
  readonly label?: string;
  /** Called with each reading. Returns the one value, or values by the label's value. */
  readonly read: () => number | Readonly<Record<string, number>> | Promise<Readonly<Record<string, number>>>;
}

/** Asks for its values when it is read. */
export class ReadMetric implements Metric {
  readonly #options: ReadOptions;

  constructor(options: ReadOptions) {
    this.#options = options;
  }

  async text(): Promise<string> {
    const { type, label = '', read } = this.#options;
    const values = await read();
    if (typeof values === 'number') return linesOf(type, this.#options, [['', values]]);
    const shown = Object.entries(values).map(([of, value]): [string, number] => [labelsText({ [label]: of }), value]);
    return linesOf(type, this.#options, shown);
  }
}

/** Counts values by the least bound that they do not exceed. */
export class Histogram implements Metric {
  readonly #head: MetricOptions;
  readonly #bounds: readonly number[];
  /** One more than bounds: the last are those above all. */
  readonly #counts: number[];
  #sum = 0;

  /** `bounds`: ascending. */
  constructor({ bounds, ...head }: MetricOptions & { readonly bounds: readonly number[] }) {
    this.#head = head;
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    const found = this.#bounds.findIndex((bound) => value <= bound);
    const at = found === -1 ? this.#bounds.length : found;
    this.#counts[at] = (this.#counts[at] as number) + 1;
    this.#sum += value;
  }

  text(): Promise<string> {
    let total = 0;
    const buckets = this.#counts.map((count, i): [string, number] => {
      total += count;
      return [`_bucket{le="${this.#bounds[i] ?? '+Inf'}"}`, total];
    });
    return Promise.resolve(linesOf('histogram', this.#head, [...buckets, ['_sum', this.#sum], ['_count', total]]));
  }
}

/** Returns the lines of a metric. `values`: by what follows its name. */
function linesOf(type: string, { name, help }: MetricOptions, values: Iterable<readonly [string, number]>): string {
  const lines = Array.from(values, ([rest, value]) => `${name}${rest} ${numberText(value)}`);
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join('\n');
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : `${value > 0 ? '+' : '-'}Inf`;
}

function labelsText(labels: Readonly<Record<string, string>>): string {
  return `{${Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)}}`;
}

function escaped(value: string): string {
  return value.replace(/[\\\n"]/g, (found) => (found === '\n' ? '\\n' : `\\${found}`));
}
