import { setTimeout as delay } from 'node:timers/promises';
import { auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';

/** The organisation of the callers, with its keys. */
export interface Owner {
  readonly keys: readonly { readonly id: string; readonly secret: string }[];
  /** Changes the limits of its keys until the signal, which no caller may notice. Resolves with the number of changes. */
  changeLimits(options: ChangeLimits): Promise<number>;
}

export interface ChangeLimits {
  readonly ports: readonly number[];
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly pauseMs: number;
}

const CREDENTIALS = { email: 'owner@example.com', password: 'correct horse battery staple' };
const RATE_LIMIT_RPM = 500_000;

export async function createOwner(port: number, count: number): Promise<Owner> {
  const client = new ApiClient(port);
  await client.call(auth.register, { body: { ...CREDENTIALS, organization_name: 'Callers' } });
  await client.call(auth.login, { body: CREDENTIALS });
  const project = (await client.call(organization.listProjects)).projects[0];
  const minted: { id: string; secret: string }[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const body = { project_id: project?.id, name: `callers ${nth}` };
    const { id, api_key: secret } = await client.call(keys.createKey, { body });
    await client.call(keys.updateKey, { params: { key_id: id }, body: { rate_limit_rpm: RATE_LIMIT_RPM } });
    minted.push({ id, secret });
  }
  return { keys: minted, changeLimits: (options) => changeLimits(minted, options) };
}

async function changeLimits(
  minted: readonly { readonly id: string }[],
  { ports, random, signal, pauseMs }: ChangeLimits,
): Promise<number> {
  let changes = 0;
  let client: ApiClient | undefined;
  while (!signal.aborted) {
    await delay(pauseMs);
    try {
      if (client === undefined) {
        client = new ApiClient(ports[Math.floor(random() * ports.length)] as number);
        const { status } = await client.send(auth.login, { body: CREDENTIALS });
        if (status !== 200) client = undefined;
        continue;
      }
      const key = minted[Math.floor(random() * minted.length)] as { id: string };
      const body = {
        rate_limit_rpm: RATE_LIMIT_RPM + Math.floor(random() * 1_000),
        credit_limit_pkr: 10_000 + Math.floor(random() * 1_000),
      };
      const { status } = await client.send(keys.updateKey, { params: { key_id: key.id }, body });
      if (status === 200) changes += 1;
      else if (status === 401 || status === 503) client = undefined;
      else throw new Error(`a change of a key's limits was answered with ${status}`);
    } catch (error) {
      // The connection broke: another API is asked.
      if ((error as NodeJS.ErrnoException).code === undefined || (error as Error).name === 'AssertionError')
        throw error;
      client = undefined;
    }
  }
  return changes;
}
