import { randomUUID } from 'node:crypto';
import { finishRequest, type Journal } from '@gatehouse/gateway/journal';
import { newRequestId } from '@gatehouse/gateway/testing';
import type { Subject } from './subjects.ts';

export type FinishedRequest = Parameters<Journal['append']>[0];

const pick = <T>(of: readonly T[], index: number) => of[index % of.length] as T;

/** Requests that have just finished, spread over the organisation's keys. */
export function finishedRequests(
  subject: Pick<Subject, 'organizationId' | 'projectId' | 'keyIds' | 'models'>,
  count: number,
): FinishedRequest[] {
  const now = Date.now();
  return Array.from({ length: count }, (_, index): FinishedRequest => {
    const isStream = index % 3 !== 0;
    const tokensGenerated = 20 + (index % 700);
    const promptTokens = 100 + (index % 3_000);
    const ttftMs = isStream ? 150 + (index % 500) + 0.125 : null;
    const totalMs = 400 + tokensGenerated * 9.5 + (index % 91);
    const costMicroPkr = BigInt(promptTokens * 70 + tokensGenerated * 560);
    const isThrottled = index % 50 === 0;
    return finishRequest({
      requestId: newRequestId(now),
      organizationId: subject.organizationId,
      keyId: pick(subject.keyIds, index),
      projectId: subject.projectId,
      startedAtMicros: BigInt(now) * 1000n + BigInt(index),
      model: pick(subject.models, index),
      status: isThrottled ? 429 : 200,
      isStream,
      totalMs,
      ttftMs,
      tpotMs: ttftMs === null ? null : (totalMs - ttftMs) / tokensGenerated,
      preDispatchMs: 2.25,
      promptTokens,
      tokensGenerated,
      cacheCreationInputTokens: null,
      cacheReadInputTokens: null,
      totalTokens: promptTokens + tokensGenerated,
      tokensEstimated: false,
      costMicroPkr,
      isByok: false,
      terminationReason: 'success',
      refusal: isThrottled ? 'rate_limit_exceeded' : '',
      upstreamError: null,
      upstreamModel: 'a-model',
      userAgent: 'OpenAI/Python 1.109.1',
      metadata: new Map([
        ['team', pick(['red', 'blue', 'green'], index)],
        ['trace', randomUUID()],
      ]),
      attempts: isThrottled
        ? []
        : [
            {
              provider: 'a-provider',
              upstreamModel: 'a-model',
              credential: 'default',
              isByok: false,
              status: 200,
              startedMs: 2.25,
              totalMs: totalMs - 2.25,
              ttftMs: ttftMs === null ? null : ttftMs - 2.25,
              promptTokens,
              tokensGenerated,
              costMicroPkr,
              ending: 'served',
              error: null,
            },
          ],
      isHeld: false,
    });
  });
}
