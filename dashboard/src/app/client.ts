import { QueryClient } from '@tanstack/react-query';
import { ProblemError } from '../../../src/client/client.ts';

const TRIES = 2;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // A server on the same machine or network answers also when the browser knows of no way into the internet.
      networkMode: 'always',
      staleTime: 2000,
      retry: (tries, error) =>
        tries < TRIES && !(error instanceof ProblemError && error.status >= 400 && error.status < 500),
    },
  },
});
