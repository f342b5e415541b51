// Choices that stand in the address, so that a view can be sent to another person.

import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';

function useParameter(name: string): [string | undefined, (value: string | undefined) => void] {
  const given = (useSearch({ strict: false }) as Readonly<Record<string, unknown>>)[name];
  const navigate = useNavigate();
  const put = (value: string | undefined): void => {
    const search = (before: object) => ({ ...before, [name]: value });
    void navigate({ to: '.', search: search as never, replace: true });
  };
  // The router reads a text such as `7` as a number.
  return [given === undefined || given === null ? undefined : String(given), put];
}

/** One of a few; what is none of them counts as no choice. */
export function useChoice<V extends string>(
  name: string,
  options: readonly V[],
): [V | undefined, (value: V | undefined) => void] {
  const [given, put] = useParameter(name);
  return [options.find((one) => one === given), put];
}

/** A text that is typed: the field has it at once, the address after it. */
export function useText(name: string): [string, (text: string) => void] {
  const [given, put] = useParameter(name);
  const [text, setText] = useState(given ?? '');
  return [
    text,
    (typed) => {
      setText(typed);
      put(typed === '' ? undefined : typed);
    },
  ];
}
