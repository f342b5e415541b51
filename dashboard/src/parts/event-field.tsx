import { T } from '../english.ts';
import { eventFault } from '../errors/event-text.ts';

interface EventFieldProps {
  readonly label: string;
  readonly text: string;
  readonly set: (text: string) => void;
}

/** An event as text, and what keeps it from being one. */
export function EventField({ label, text, set }: EventFieldProps) {
  const fault = eventFault(text);
  return (
    <>
      <textarea
        className="editor-text"
        aria-label={label}
        spellCheck={false}
        value={text}
        onChange={({ currentTarget }) => set(currentTarget.value)}
      />
      {fault !== null && (
        <p className="diff-note bad" role="alert">
          {T.error.notJson} {fault}
        </p>
      )}
    </>
  );
}
