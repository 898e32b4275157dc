import assert from 'node:assert/strict';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';

const root = join(import.meta.dirname, '..');

describe('docs/security.md', () => {
  it('names only files that exist', async () => {
    const page = await readFile(join(root, 'docs/security.md'), 'utf8');
    const paths = [...page.matchAll(/`([\w.-]+(?:\/[\w.-]+)+\.ts)`/g)].map(([, path]) => path as string);
    assert.ok(paths.length > 40, `${paths.length} paths`);
    const missing: string[] = [];
    for (const path of new Set(paths)) await access(join(root, path)).catch(() => missing.push(path));
    assert.deepEqual(missing, []);
  });
});
