import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createProgress } from './progress.ts';

function watch(isTerminal: boolean, isJson: boolean): { written: string[]; nowMs: number } {
  const seen = { written: [] as string[], nowMs: 0 };
  using progress = createProgress(
    { isTerminal, isJson, err: (text) => void seen.written.push(text) },
    () => seen.nowMs,
  );
  progress.step('Copying');
  progress.at(0, 3);
  // Too soon after the last to be read.
  seen.nowMs += 99;
  progress.at(1, 3);
  seen.nowMs += 1;
  progress.at(2, 3);
  progress.step('Checking');
  progress.at(9, 0);
  return seen;
}

describe('progress', () => {
  it('rewrites one line of a terminal, ten times a second at most, and leaves it empty', () => {
    const clear = '\r\u001b[K';
    assert.deepEqual(watch(true, false).written, [
      `${clear}Copying ...`,
      `${clear}Copying ... 0 %`,
      `${clear}Copying ... 66 %`,
      `${clear}Checking ...`,
      `${clear}Checking ... 100 %`,
      clear,
    ]);
  });

  it('is silent where nobody watches: a file, a pipe, a program that asked for JSON', () => {
    assert.deepEqual(watch(false, false).written, []);
    assert.deepEqual(watch(true, true).written, []);
  });
});
