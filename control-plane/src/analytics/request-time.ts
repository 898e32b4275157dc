import { uuidFromText } from '@gatehouse/contract';

/** The contents of a request id: the id as it is stored, and the millisecond in which the request began. */
export interface RequestTime {
  readonly requestId: string;
  readonly ms: number;
}

// The store holds no later time.
const YEAR_2100_MS = 4_102_444_800_000;

/** Reads a request id, which is a UUIDv7. Undefined if no request can have it. */
export function requestTimeOf(text: string): RequestTime | undefined {
  const requestId = uuidFromText(text);
  if (requestId?.[14] !== '7') return undefined;
  const ms = Number.parseInt(requestId.slice(0, 8) + requestId.slice(9, 13), 16);
  return ms < YEAR_2100_MS ? { requestId, ms } : undefined;
}
