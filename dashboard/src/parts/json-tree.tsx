import { useState } from 'react';
import { WrittenNumber } from '../errors/event-text.ts';
import { Scrollable } from './scrollable.tsx';
import { seen } from './text/foreign.tsx';

const OPEN_DEPTH = 3;
/** What has more members, such as headers, is closed at first. */
const OPEN_MEMBERS = 8;
/** Members shown at first: a list of a million must not stop the page. */
const SHOWN = 100;
const MAX_CHARS = 2000;

export function JsonTree({ value }: { value: unknown }) {
  return (
    <Scrollable className="tree" label="JSON">
      <Node value={value} depth={0} />
    </Scrollable>
  );
}

function Node({ name, value, depth }: { name?: string; value: unknown; depth: number }) {
  const [isOpen, setOpen] = useState(() => depth === 0 || (depth < OPEN_DEPTH && sizeOf(value) <= OPEN_MEMBERS));
  const [shown, setShown] = useState(SHOWN);
  const label = name === undefined ? null : <span className="name">{nameText(name)}: </span>;
  if (typeof value !== 'object' || value === null || value instanceof WrittenNumber) {
    return (
      <div className="leaf">
        {label}
        <Leaf value={value} />
      </div>
    );
  }
  const isList = Array.isArray(value);
  const members = Object.entries(value);
  if (members.length === 0) {
    return (
      <div className="leaf">
        {label}
        {isList ? '[]' : '{}'}
      </div>
    );
  }
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {label}
        <span className="soft">{isList ? `[${members.length}]` : `{${members.length}}`}</span>
      </summary>
      {isOpen &&
        members.slice(0, shown).map(([key, member]) => <Node key={key} name={key} value={member} depth={depth + 1} />)}
      {isOpen && members.length > shown && (
        <button type="button" className="link-button" onClick={() => setShown(shown * 10)}>
          … {members.length - shown}
        </button>
      )}
    </details>
  );
}

/** Returns a text as it stands in JSON, with escapes for what is not seen. */
function literal(text: string): string {
  return seen(JSON.stringify(text));
}

function nameText(name: string): string {
  const written = literal(name);
  return name.trim() === name && name !== '' && written === `"${name}"` ? name : written;
}

function sizeOf(value: unknown): number {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

function Leaf({ value }: { value: unknown }) {
  if (value instanceof WrittenNumber) return <span className="number">{value.written}</span>;
  if (typeof value === 'number') return <span className="number">{value}</span>;
  if (typeof value !== 'string') return <span className="word">{String(value)}</span>;
  const text = literal(value);
  return <span className="text">{text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text}</span>;
}
