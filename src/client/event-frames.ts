// The format of server-sent events (HTML standard, 9.2.6), read from text that comes in parts.

export interface Frame {
  /** Of this event, or of one before it: from where a stream goes on. Empty: none came yet. */
  readonly lastId: string;
  /** Empty: the default channel. */
  readonly name: string;
  readonly data: string;
}

export interface EventFrameReader {
  /** Takes a part of the text, and returns the events that it completes. */
  take(part: string): Frame[];
  /** The id that was last, also one without an event. */
  readonly lastId: string;
  /** What the server asks to wait before the next connection; null: nothing. */
  readonly retryMs: number | null;
}

const BYTE_ORDER_MARK = '\uFEFF';
const LINE_END = /\r\n|\n|\r/g;

export function createFrameReader(lastId = ''): EventFrameReader {
  let rest = '';
  /** A carriage return at the end of a part may be the half of a line end. */
  let isOpen = false;
  let isAtStart = true;
  let [name, idBuffer, seenId] = ['', lastId, lastId];
  let data: string[] = [];
  let retryMs: number | null = null;

  const field = (key: string, value: string): void => {
    if (key === 'event') name = value;
    else if (key === 'data') data.push(value);
    else if (key === 'id' && !value.includes('\0')) idBuffer = value;
    else if (key === 'retry' && /^\d{1,9}$/.test(value)) retryMs = Number(value);
  };

  const frameEnd = (): Frame[] => {
    seenId = idBuffer;
    const frame = { lastId: seenId, name, data: data.join('\n') };
    const isEmpty = data.length === 0;
    [name, data] = ['', []];
    return isEmpty ? [] : [frame];
  };

  const line = (text: string): Frame[] => {
    if (text === '') return frameEnd();
    const colon = text.indexOf(':');
    if (colon < 0) field(text, '');
    else if (colon > 0) field(text.slice(0, colon), text.slice(colon + 1).replace(/^ /, ''));
    return [];
  };

  return {
    take: (part) => {
      if (part === '') return [];
      let text = isOpen ? `\r${part}` : part;
      if (isAtStart) {
        isAtStart = false;
        if (text.startsWith(BYTE_ORDER_MARK)) text = text.slice(1);
      }
      isOpen = text.endsWith('\r');
      // The part alone is searched: a long line comes in many.
      const lines = (isOpen ? text.slice(0, -1) : text).split(LINE_END);
      lines[0] = rest + lines[0];
      rest = lines.pop() ?? '';
      return lines.flatMap(line);
    },
    get lastId() {
      return seenId;
    },
    get retryMs() {
      return retryMs;
    },
  };
}
