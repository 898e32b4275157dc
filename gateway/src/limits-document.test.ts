import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { limitsDocument } from './limits-document.ts';

const configuration = await readFile(join(import.meta.dirname, '../../docs/configuration.md'), 'utf8');
const page = limitsDocument();

describe('the page of limits', () => {
  it('states the body limit that is the default of its setting', () => {
    const megabytes = /^\| `GATEWAY_BODY_LIMIT_MB` .* \| (\d+) \|$/m.exec(configuration)?.[1];
    assert.ok(page.includes(`| body | ${megabytes} MiB (\`GATEWAY_BODY_LIMIT_MB\`) | 413 |`));
  });

  it('names only settings that exist', () => {
    const names = [...page.matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, name]) => name);
    assert.ok(names.length > 1);
    assert.deepEqual(
      names.filter((name) => !configuration.includes(`| \`${name}\` |`)),
      [],
    );
  });

  it('has a limit and what happens beyond it in every row', () => {
    const rows = page.split('\n').filter((line) => /^\| [^|]/.test(line));
    assert.ok(rows.length > 40, `${rows.length} rows`);
    assert.deepEqual(
      rows.filter((row) => !/^\| [^|]+ \| [^|]+ \| [^|]+ \|$/.test(row) || /undefined|NaN/.test(row)),
      [],
    );
  });
});
