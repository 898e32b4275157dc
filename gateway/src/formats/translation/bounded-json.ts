import { parseExact } from '../../wire/exact-json.ts';
import { scanJson } from '../../wire/scan-json.ts';

// JSON inside a string of a body was not looked at when the body was read. It is written out again as values, and
// JSON.stringify calls itself for each level.
const LIMITS = { depth: 128, structure: 400_000, members: 10_000 };

/** The value of a JSON text; undefined where it is none, or too large or deep to be written again. */
export function parseBounded(text: string): unknown {
  return typeof scanJson(Buffer.from(text), LIMITS) === 'object' ? parseExact(text) : undefined;
}

/** The JSON of a value that came parsed; undefined where it is nested too deep. */
export function writeBounded(value: unknown): string | undefined {
  return isDeeperThan(value, 2 * LIMITS.depth) ? undefined : JSON.stringify(value);
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return false;
  if (levels === 0) return true;
  return Object.values(value).some((member) => isDeeperThan(member, levels - 1));
}
