import { QueryClient } from '@tanstack/react-query';
import { mayRetry } from './errors.ts';

/** Old figures stay on the screen while new ones load; what is seen again within seconds is not asked for again. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      gcTime: 10 * 60_000,
      refetchOnWindowFocus: true,
      retry: (failures, error) => failures < 2 && mayRetry(error),
      retryDelay: (failures) => Math.min(1000 * 2 ** failures, 8000),
    },
  },
});

/** Reads again what these calls of the API answered, wherever it is shown. */
export async function readAgain(...calls: readonly string[]): Promise<void> {
  await Promise.all(calls.map((call) => queryClient.invalidateQueries({ queryKey: [call] })));
}
