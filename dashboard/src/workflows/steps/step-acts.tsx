import { Button } from '@mantine/core';
import { words } from './english.ts';

export interface StepActs {
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly move: (by: -1 | 1) => void;
  readonly rename: () => void;
  readonly remove: () => void;
}

export function StepButtons({
  name,
  acts: { isFirst, isLast, move, rename, remove },
}: {
  name: string;
  acts: StepActs;
}) {
  const isOnly = isFirst && isLast;
  return (
    <div className="buttons step-acts">
      {!isOnly && (
        <>
          <Button
            size="compact-xs"
            variant="default"
            data-focus="up"
            aria-label={words.up(name)}
            title={words.up(name)}
            disabled={isFirst}
            onClick={() => move(-1)}
          >
            ↑
          </Button>
          <Button
            size="compact-xs"
            variant="default"
            data-focus="down"
            aria-label={words.down(name)}
            title={words.down(name)}
            disabled={isLast}
            onClick={() => move(1)}
          >
            ↓
          </Button>
        </>
      )}
      <Button size="compact-xs" variant="default" aria-label={words.renameOf(name)} onClick={rename}>
        {words.rename}
      </Button>
      <Button
        size="compact-xs"
        variant="default"
        aria-label={words.removeOf(name)}
        title={isOnly ? words.onlyOne : undefined}
        disabled={isOnly}
        onClick={remove}
      >
        {words.remove}
      </Button>
    </div>
  );
}
