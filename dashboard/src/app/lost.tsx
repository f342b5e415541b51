import { Link } from '@tanstack/react-router';
import { T } from '../english.ts';
import { Empty } from '../parts/state.tsx';

export function Lost() {
  return (
    <main className="main">
      <Empty isPage icon="search" title={T.common.lost}>
        <div className="actions">
          <Link to="/" className="button-link">
            {T.common.home}
          </Link>
        </div>
      </Empty>
    </main>
  );
}
