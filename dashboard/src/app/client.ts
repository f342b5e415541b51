import { QueryClient } from '@tanstack/react-query';
import { ProblemError } from '../../../src/client/client.ts';

const TRIES = 2;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2000,
      retry: (tries, error) =>
        tries < TRIES && !(error instanceof ProblemError && error.status >= 400 && error.status < 500),
    },
  },
});
