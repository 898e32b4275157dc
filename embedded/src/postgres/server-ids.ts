import { createHash } from 'node:crypto';

// Ranges that neither distributions nor systemd, containers or name services give out. The high one has room for every
// cluster to have an id that no other cluster has. A container may know the ids below 65536 only; the low range is for
// those.
const HIGH = { first: 0x7000_0000, count: 0x1000_0000 };
const LOW = { first: 60_706, count: 478 };

/** The user ids, best first, under which only the server of this cluster runs. */
export function ownIdsOf(clusterDir: string): number[] {
  const number = createHash('sha256').update(clusterDir).digest().readUInt32BE();
  return [HIGH, LOW].map(({ first, count }) => first + (number % count));
}
