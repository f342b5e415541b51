import { T } from '../english.ts';
import { Scrollable } from '../parts/scrollable.tsx';
import { Said } from '../parts/text/foreign.tsx';

/** What has fewer fits its place, on the narrowest screen, too. */
const [MAY_SCROLL_CHARS, MAY_SCROLL_LINES] = [300, 8];

/** The message of an error as it was thrown, but for colours. A long one scrolls in its place. */
export function Message({ text }: { text: string }) {
  const message = <Said>{text || T.errors.noMessage}</Said>;
  if (text.length <= MAY_SCROLL_CHARS && text.split('\n').length <= MAY_SCROLL_LINES)
    return <p className="fault-message">{message}</p>;
  return (
    <Scrollable className="fault-message" label={T.errors.message}>
      {message}
    </Scrollable>
  );
}
