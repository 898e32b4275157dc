import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { auth } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { startService } from '../service-process.ts';
import type { Drill } from './drill.ts';

// A flood of sign-ins with wrong passwords for unknown accounts, while others sign in with right ones. Counts how many succeed
// from the address of the flood, where they signed in before, and from another network, where they did not.

/** Connections of the flood. */
const members = 200;
const password = 'correct horse battery staple';

export const drill: Drill = async ({ cycles: right, log }) => {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-flood-'));
  try {
    await using service = await startService({ DATA_DIR: join(directory, 'data') });
    const signIn = async (email: string, secret: string, headers: Record<string, string> = {}) =>
      (await new ApiClient(service.apiPort).send(auth.login, { body: { email, password: secret }, headers }))
        .status;

    const emails: string[] = [];
    for (let n = 0; n < right; n += 1) {
      const email = `${randomUUID()}@example.com`;
      await new ApiClient(service.apiPort).call(auth.register, {
        body: { email, password, organization_name: `Org ${randomUUID()}` },
      });
      await signIn(email, password);
      emails.push(email);
    }

    let isOver = false;
    const answers = new Map<number, number>();
    const flood = Promise.all(
      Array.from({ length: members }, async (_, member) => {
        for (let n = 0; !isOver; n += 1) {
          const status = await signIn(`${member}.${n}@example.com`, 'wrong password');
          answers.set(status, (answers.get(status) ?? 0) + 1);
        }
      }),
    );
    while (!answers.has(503)) await new Promise((resolve) => setImmediate(resolve));

    for (const [where, headers] of [
      ['the address of the flood', {}],
      ['another network', { 'x-forwarded-for': '198.51.100.7' }],
    ] as const) {
      const startedAt = performance.now();
      const statuses: number[] = [];
      for (const email of emails) statuses.push(await signIn(email, password, headers));
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      const succeeded = statuses.filter((status) => status === 200).length;
      log(`right passwords from ${where}: ${succeeded} of ${right} succeeded, in ${seconds} s`);
    }
    isOver = true;
    await flood;
    const counts = [...answers].map(([status, count]) => `${count} × ${status}`).join(', ');
    log(`answers to wrong passwords: ${counts}`);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  return [];
};
