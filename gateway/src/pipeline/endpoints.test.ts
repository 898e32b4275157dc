import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { MODEL_ENDPOINTS, STEPS } from './endpoints.ts';

const ARCHITECTURE = new URL('../../../ARCHITECTURE.md', import.meta.url);

describe('the table of steps and endpoints', () => {
  it('is the one that ARCHITECTURE.md shows', async () => {
    const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`.replaceAll('|  |', '| |');
    const expected = [
      row(['step', ...MODEL_ENDPOINTS.map(({ method, path }) => `\`${method} ${path}\``)]),
      `|---|${MODEL_ENDPOINTS.map(() => '---|').join('')}`,
      ...STEPS.rows.map(({ step, columns }) =>
        row([
          step.name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
          ...MODEL_ENDPOINTS.map(({ operation }) => (columns.includes(operation) ? 'x' : '')),
        ]),
      ),
    ].join('\n');
    const text = await readFile(ARCHITECTURE, 'utf8');
    assert.ok(text.includes(expected), `ARCHITECTURE.md does not show this table:\n${expected}`);
  });
});
