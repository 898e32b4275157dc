import { randomUUID } from 'node:crypto';
import type { Endpoint } from '@gatehouse/contract';

/** The endpoint's path from the root, with random ids. */
export function somePath(endpoint: Endpoint): string {
  return `/api${endpoint.path.replaceAll(/\{\w+\}/g, () => randomUUID())}`;
}
