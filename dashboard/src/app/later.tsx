// Pages and dialogs whose scripts come when they are first shown. A script that does not come takes nothing of what is there away:
// it is asked for again, by itself and by a button, as all that could not be loaded (`Trouble`).

import { queryOptions, useQuery } from '@tanstack/react-query';
import { type ComponentType, useEffect } from 'react';
import { ConnectionError } from '../../../src/client/client.ts';
import { T } from '../english.ts';
import { Unready } from '../parts/state.tsx';
import { queryClient } from './client.ts';

/** The server answers, and has no such script: another version of it was started. */
export class OtherVersion extends Error {}

async function scriptOf<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load();
  } catch (error) {
    const isThere = await fetch('/healthz', { cache: 'no-store' }).then(
      ({ ok }) => ok,
      () => false,
    );
    throw isThere
      ? new OtherVersion(T.common.otherVersion, { cause: error })
      : new ConnectionError(T.common.noAnswer, { cause: error });
  }
}

let parts = 0;

function queryOf<Props>(load: () => Promise<ComponentType<Props>>) {
  // What was loaded stays, also when the session ends and all answers are forgotten.
  let loaded: ComponentType<Props> | undefined;
  return queryOptions({
    queryKey: ['script', parts++],
    queryFn: async () => {
      loaded = await scriptOf(load);
      return loaded;
    },
    initialData: () => loaded,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
    retry: false,
    structuralSharing: false,
  });
}

/** Returns a part of a page, or a dialog; `Place` has its place until it comes. */
export function later<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Place?: ComponentType<Props>,
): ComponentType<Props> {
  const query = queryOf(load);
  return function Later(props) {
    const { data: Part } = useQuery(query);
    if (Part) return <Part {...props} />;
    return Place ? <Place {...props} /> : null;
  };
}

/** Returns a page, for the router: what a module exports by a name. Its type, which may need the router's, is not asked for here. */
export function laterPage<Module>(load: () => Promise<Module>, name: keyof Module) {
  const query = queryOf(async () => (await load())[name] as ComponentType);
  function LaterPage() {
    const asked = useQuery(query);
    const { data: Page, error } = asked;
    useEffect(() => {
      if (error instanceof OtherVersion) loadAgainOnce(error);
    }, [error]);
    if (Page) return <Page />;
    const again = (): unknown => (error instanceof OtherVersion ? window.location.reload() : asked.refetch());
    return <Unready of={{ ...asked, refetch: again }} isPage />;
  }
  LaterPage.preload = () => queryClient.prefetchQuery(query);
  return LaterPage;
}

/** Loads the whole document again, which names the scripts of the version that runs now; not again when that did not help. */
function loadAgainOnce({ cause }: OtherVersion): void {
  const mark = `errand.loaded-again:${cause instanceof Error ? cause.message : ''}`;
  if (sessionStorage.getItem(mark) !== null) return;
  sessionStorage.setItem(mark, '1');
  window.location.reload();
}
