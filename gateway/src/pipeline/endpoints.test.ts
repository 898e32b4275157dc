import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { MODEL_ENDPOINTS, STEPS } from './endpoints.ts';

const ARCHITECTURE = new URL('../../../ARCHITECTURE.md', import.meta.url);

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`.replaceAll(/\| {2}(?=\|)/g, '| ');

describe('the table of steps and endpoints', () => {
  const columns = [...new Set(MODEL_ENDPOINTS.map(({ column }) => column))];

  for (const [title, expected] of [
    [
      'endpoints',
      [
        row(['endpoint', 'steps', 'operation']),
        '|---|---|---|',
        ...MODEL_ENDPOINTS.map(({ method, path, column, operation }) =>
          row([`\`${method} ${path}\``, column, `\`${operation}\``]),
        ),
      ],
    ],
    [
      'steps',
      [
        row(['step', ...columns]),
        `|---|${columns.map(() => '---|').join('')}`,
        ...STEPS.rows.map(({ step, columns: ofStep }) =>
          row([
            step.name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
            ...columns.map((column) => (ofStep.includes(column) ? 'x' : '')),
          ]),
        ),
      ],
    ],
  ] as const) {
    it(`is the one that ARCHITECTURE.md shows: ${title}`, async () => {
      const table = `\n${expected.join('\n')}\n\n`;
      const text = await readFile(ARCHITECTURE, 'utf8');
      assert.ok(text.includes(table), `ARCHITECTURE.md does not show this table:\n${table}`);
    });
  }
});
