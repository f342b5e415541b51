import { QueryClient } from '@tanstack/react-query';
import { ApiError } from '../api/http.ts';

const TRIES = 2;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2000,
      retry: (tries, error) =>
        tries < TRIES && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
    },
  },
});
