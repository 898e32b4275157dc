import { setTimeout as delay } from 'node:timers/promises';
import { auth, keys } from '@gatehouse/contract';
import { sql, statement } from '@gatehouse/store';
import { ask } from './ask.ts';
import { addressOf, chatOf } from './callers.ts';
import type { Stand } from './stand.ts';

// The decisions of each clock, checked while the node's is wrong and PostgreSQL's is right.

const findEntryTime = statement<{ sourceIp: string }, { ageSeconds: number }>(
  'drill-outages-find-entry-time',
  sql`SELECT extract(epoch FROM clock_timestamp() - occurred_at)::float8 AS age_seconds
      FROM activity_events WHERE source_ip = ${'sourceIp'}`,
);

const SECOND_MS = 1_000;
const LIVES_SECONDS = 300;
const SOON_SECONDS = 2;
const REQUESTS = 40;
const LIMIT_RPM = 20;
const NEAR_SECONDS = 60;
// The last numbers that an address can have.
const NUMBER = 0xff_ff_00;

/** Returns what was wrong. */
export async function checkClocks(stand: Stand, shiftMs: number): Promise<readonly string[]> {
  const broken: string[] = [];
  const client = stand.client();
  await client.call(auth.login, { body: stand.credentials });
  const mint = async (seconds: number | undefined, number = NUMBER) => {
    const expiry = seconds === undefined ? {} : { expires_at: new Date(Date.now() + seconds * SECOND_MS) };
    const body = { project_id: stand.projectId, name: 'clock', ...expiry };
    const headers = { 'x-forwarded-for': addressOf(number) };
    return client.call(keys.createKey, { body, headers });
  };
  const statusOf = async (secret: string) => (await ask(chatOf(stand, secret, false))).status;

  const lives = await mint(LIVES_SECONDS, NUMBER + Math.abs(shiftMs / SECOND_MS) / NEAR_SECONDS);
  const expires = await mint(SOON_SECONDS);
  const limited = await mint(undefined);
  await client.call(keys.updateKey, { params: { key_id: limited.id }, body: { rate_limit_rpm: LIMIT_RPM } });
  if ((await statusOf(lives.api_key)) !== 200) broken.push('a key that has not expired was refused');

  const statuses = await Promise.all(Array.from({ length: REQUESTS }, () => statusOf(limited.api_key)));
  const served = statuses.filter((status) => status === 200).length;
  if (served !== LIMIT_RPM) broken.push(`${served} requests were served with a rate of ${LIMIT_RPM}`);

  await delay(2 * SOON_SECONDS * SECOND_MS);
  const late = await statusOf(expires.api_key);
  if (late !== 401) broken.push(`a key that has expired got ${late}`);

  const entry = await stand.database.many(findEntryTime, { sourceIp: addressOf(NUMBER) });
  if (!entry.some(({ ageSeconds }) => Math.abs(ageSeconds) < NEAR_SECONDS))
    broken.push('an entry of the activity log has the time of the node');
  return broken;
}
