import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

interface ErrorLinkProps {
  readonly id: string;
  readonly emitterId: string | null;
  readonly groupId: string | null;
  readonly text: ReactNode;
}

/** The way to an error: by its group, or by what it is of where that is not known. */
export function ErrorLink({ id, emitterId, groupId, text }: ErrorLinkProps) {
  if (groupId !== null) {
    return (
      <Link to="/errors/$groupId/$errorId" params={{ groupId, errorId: id }}>
        {text}
      </Link>
    );
  }
  if (emitterId === null) return <span>{text}</span>;
  return (
    <Link to="/emitters/$emitterId/errors/$errorId" params={{ emitterId, errorId: id }}>
      {text}
    </Link>
  );
}
