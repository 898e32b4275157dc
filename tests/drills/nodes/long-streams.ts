import { Agent } from 'node:https';
import { text } from 'node:stream/consumers';
import { openHttps } from '../../https-client.ts';
import type { NodesFleet } from './fleet.ts';
import type { Tenant } from './load.ts';
import { promptOf } from './provider.ts';
import { type ModelRequest, outcomeOf } from './requests.ts';

const CALLERS = 4;
const FIRST_NUMBER = 1_000_000;

/** Streams that take some seconds each, one after the other, so that some are in flight whenever a node stops. */
export async function startStreams(fleet: NodesFleet, tenant: Tenant, ms: number) {
  const { id: keyId, secret } = await tenant.mint();
  const agent = new Agent({ keepAlive: true });
  const requests: ModelRequest[] = [];
  let isStopping = false;
  let count = FIRST_NUMBER;
  const ask = async (): Promise<void> => {
    count += 1;
    const number = count;
    const sentAt = performance.now();
    let status: number | undefined;
    let requestId: string | undefined;
    let outcome: ModelRequest['outcome'] = 'cut off';
    try {
      const answer = await openHttps(fleet.balancer.gateway, {
        path: '/v1/chat/completions',
        agent,
        headers: { authorization: `Bearer ${secret}` },
        body: {
          model: 'mock/model',
          max_completion_tokens: 10,
          stream: true,
          messages: [{ role: 'user', content: `${promptOf(number)} for ${ms}` }],
        },
      });
      status = answer.statusCode;
      requestId = answer.headers['x-request-id'] as string | undefined;
      outcome = outcomeOf(answer, await text(answer), true);
    } catch {
      // Cut off.
    }
    requests.push({ number, outcome, status, requestId, isStream: true, sentAt, endedAt: performance.now() });
  };
  const asking = Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (!isStopping) await ask();
    }),
  );
  return {
    keyId,
    async stop(): Promise<readonly ModelRequest[]> {
      isStopping = true;
      await asking;
      agent.destroy();
      return requests;
    },
  };
}
