import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { onStopSignals } from './stop-signals.ts';

const HOUR_MS = 3_600_000;

function createSignals() {
  let nowMs = 0;
  let kills = 0;
  const listeners = new Map<NodeJS.Signals, (signal: NodeJS.Signals) => void>();
  const signals = onStopSignals({
    on: (signal, listener) => listeners.set(signal, listener),
    kill() {
      kills += 1;
    },
    monotonicMs: () => nowMs,
  });
  return {
    signals,
    kills: () => kills,
    sendAfter(ms: number, signal: NodeJS.Signals) {
      nowMs += ms;
      listeners.get(signal)?.(signal);
    },
  };
}

describe('signals to stop', () => {
  it('the first requests the stop, and says which it was', async () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const { signals, sendAfter, kills } = createSignals();
      sendAfter(5_000, signal);
      assert.equal(await signals.requested, signal);
      assert.equal(kills(), 0);
    }
  });

  it('the second ends the wait, and the third the process', async () => {
    const { signals, sendAfter, kills } = createSignals();
    sendAfter(0, 'SIGTERM');
    const waiting = signals.wait(HOUR_MS);
    sendAfter(1_001, 'SIGTERM');
    await waiting;
    assert.equal(kills(), 0);
    sendAfter(1_001, 'SIGTERM');
    assert.equal(kills(), 1);
  });

  it('without a wait the second ends the process', () => {
    const { sendAfter, kills } = createSignals();
    sendAfter(0, 'SIGINT');
    sendAfter(1_001, 'SIGINT');
    assert.equal(kills(), 1);
  });

  it('signals within a second count as one', () => {
    const { sendAfter, kills } = createSignals();
    sendAfter(0, 'SIGINT');
    sendAfter(300, 'SIGINT');
    sendAfter(700, 'SIGINT');
    assert.equal(kills(), 0);
  });

  it('a wait ends by itself', async () => {
    const { signals, sendAfter, kills } = createSignals();
    sendAfter(0, 'SIGTERM');
    await signals.wait(1);
    assert.equal(kills(), 0);
  });
});
