import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type NoParameters, sql, statement } from '@gatehouse/store';
import type { Fault } from '../fault-proxy.ts';
import type { Outage } from './rows.ts';
import type { Stand } from './stand.ts';

const switchLog = statement<NoParameters, { position: string }>(
  'drill-outages-switch-log',
  sql`SELECT pg_switch_wal()::text AS position`,
);

const MS = 1_000;
const REFILL_MS = 250;

/** Why this stand cannot have the outage, or undefined. */
export function whyNot(stand: Stand, outage: Outage): string | undefined {
  const needsRedis = outage.kind === 'full-memory' || (outage.kind === 'network' && outage.part === 'redis');
  if (needsRedis && stand.redisSocket === undefined)
    return 'no redis-server or valkey-server on this machine';
  const needsNamespaces =
    outage.kind === 'full-disk' || (outage.kind === 'network' && outage.fault.kind === 'dropped');
  if (needsNamespaces && !stand.isIsolated) return 'no namespaces for network and mounts (root, unshare, ip)';
  return undefined;
}

/** Makes the outage, keeps it up for so long, and ends it. */
export async function applyOutage(stand: Stand, outage: Outage, seconds: number): Promise<void> {
  const end = performance.now() + seconds * MS;
  const leftMs = () => Math.max(0, end - performance.now());
  if (outage.kind === 'network') {
    const set = (fault: typeof outage.fault) =>
      outage.part === 'google' ? stand.google.set(fault as Fault) : stand.network.set(outage.part, fault);
    if (outage.part === 'google') stand.issuer.rotate();
    await set(outage.fault);
    await delay(leftMs());
    await set({ kind: 'none' });
  } else if (outage.kind === 'full-disk') {
    const disk = stand.disks?.[outage.of];
    if (!disk) throw new Error('no disk to fill');
    // A store that deletes something of its own makes room again.
    while (leftMs() > 0) {
      await disk.fill();
      // Files that PostgreSQL has made in advance are used up, so that it needs more.
      if (outage.of === 'postgres') await stand.database.many(switchLog).catch(() => undefined);
      await delay(Math.min(REFILL_MS, leftMs()));
    }
    await disk.free();
  } else if (outage.kind === 'full-memory') {
    await tellRedis(stand, 'CONFIG SET maxmemory 1');
    await delay(leftMs());
    await tellRedis(stand, 'CONFIG SET maxmemory 0');
  } else {
    const { shiftsMs } = outage;
    for (const shiftMs of shiftsMs) {
      await writeFile(stand.clockFile, String(shiftMs));
      await delay((seconds * MS) / shiftsMs.length);
    }
    await writeFile(stand.clockFile, '0');
  }
}

async function tellRedis({ redisSocket = '' }: Stand, command: string): Promise<void> {
  const socket = connect({ path: redisSocket });
  socket.write(`${command}\r\n`);
  for await (const answer of socket) {
    if (!String(answer).startsWith('+OK')) throw new Error(`${command}: ${answer}`);
    return;
  }
}
