import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { attemptEnding, endingOf } from './ending.ts';

const entry = (
  status: number,
  reason: Parameters<typeof endingOf>[0]['status_detail']['termination_reason'],
) => ({
  status,
  status_detail: { termination_reason: reason, upstream_error: null },
});

describe('endings in plain words', () => {
  for (const [status, reason, words] of [
    [200, 'success', 'Answered in full'],
    [200, 'client_disconnect', 'The caller left before the end of the answer'],
    [502, 'upstream_stream_aborted', 'The provider broke the answer off'],
    [504, 'proxy_guillotine', 'Ended by the gateway: the time limit was reached'],
    [429, 'success', 'Refused: too many requests'],
    [402, 'success', 'Refused: no credit was left'],
    [418, 'success', 'Refused with status 418'],
    [599, 'success', 'Failed with status 599'],
  ] as const)
    it(`${status} ${reason}`, () => assert.equal(endingOf(entry(status, reason)), words));

  it('of attempts, with the status where it is the reason', () => {
    assert.equal(attemptEnding({ ending: 'error_status', status: 429 }), 'answered with an error (429)');
    assert.equal(attemptEnding({ ending: 'served', status: 200 }), 'answered in full');
    assert.equal(attemptEnding({ ending: 'unreachable', status: null }), 'could not be reached');
  });
});
