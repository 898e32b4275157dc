import { createHash } from 'node:crypto';

// Ranges that distributions, systemd, containers and name services do not assign. The high range has room for every
// cluster to have its own id. A container may only know ids below 65536; the low range is for those.
const HIGH = { first: 0x7000_0000, count: 0x1000_0000 };
const LOW = { first: 60_706, count: 478 };

/** The user ids, best first, that only the server of this cluster runs under. */
export function dedicatedIdsOf(clusterDir: string): number[] {
  const number = createHash('sha256').update(clusterDir).digest().readUInt32BE();
  return [HIGH, LOW].map(({ first, count }) => first + (number % count));
}
