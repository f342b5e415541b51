// What is wrong with a filter, and where in it.

export class FilterFault extends Error {
  /** Such as `filter.body.type[0]`. */
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

export function refuse(path: string, message: string): never {
  throw new FilterFault(path, message);
}

export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
