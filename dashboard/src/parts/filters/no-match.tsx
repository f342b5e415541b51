import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { T } from '../../english.ts';
import { Empty } from '../state.tsx';

interface NoMatchProps {
  readonly title: string;
  /** The list, which is shown without filters. */
  readonly list: '/errors' | '/runs' | '/deliveries';
  /** Where else it may be found. */
  readonly children?: ReactNode;
}

/** Stands for a list in which the filters find nothing. */
export function NoMatch({ title, list, children }: NoMatchProps) {
  return (
    <Empty icon="search" title={title} text={T.common.noMatchText}>
      <div className="actions">
        <Link to={list}>{T.common.clearFilters}</Link>
        {children}
      </div>
    </Empty>
  );
}
