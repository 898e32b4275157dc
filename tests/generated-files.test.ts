import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { generatedFiles } from './generated-files.ts';

describe('generated files', () => {
  for (const [path, content] of Object.entries(generatedFiles())) {
    it(`${path} is what the code says; if not, run npm run generate`, async () => {
      const committed = await readFile(join(import.meta.dirname, '..', path), 'utf8');
      assert.ok(committed === content, `${path} is stale`);
    });
  }
});
