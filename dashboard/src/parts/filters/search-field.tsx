import { TextInput } from '@mantine/core';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { Icon } from '../icon.tsx';

const SETTLE_MS = 250;

interface SearchFieldProps {
  readonly label: string;
  /** What the address holds; undefined: nothing. */
  readonly value: string | undefined;
  /** Called a moment behind the last key. */
  readonly put: (text: string | undefined) => void;
  readonly field: RefObject<HTMLInputElement | null>;
}

/** What a list is searched for. The field has it at once, the address when the typing pauses. `/` is its key. */
export function SearchField({ label, value = '', put, field }: SearchFieldProps) {
  const [text, setText] = useState(value);
  /** What the address was given last: it takes a moment, in which more may be typed. */
  const sent = useRef(text);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what was typed changes the address
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => {
      sent.current = text;
      put(text === '' ? undefined : text);
    }, SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  // The address may change without typing: back, or "clear".
  useEffect(() => {
    if (value !== sent.current) setText(value);
    sent.current = value;
  }, [value]);
  return (
    <TextInput
      ref={field}
      className="search"
      size="xs"
      type="search"
      aria-label={label}
      placeholder={label}
      leftSection={<Icon name="search" size={15} />}
      rightSection={<kbd>/</kbd>}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') event.currentTarget.blur();
      }}
    />
  );
}
