/**
 * What the JSON text says, or undefined when it is none. Numbers that JavaScript cannot hold, or would write otherwise, are
 * emitted as they came: ids beyond 2^53 are common.
 */
export function parseExact(text) {
  try {
    return JSON.parse(text, (_, value, { source }) =>
      typeof value === 'number' && source !== undefined && String(value) !== source ? JSON.rawJSON(source) : value,
    );
  } catch {
    return undefined;
  }
}
