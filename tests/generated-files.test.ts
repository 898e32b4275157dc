import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { SDK_FOLDER } from '@gatehouse/contract';
import { generatedFiles } from './generated-files.ts';

describe('generated files', () => {
  for (const [path, content] of Object.entries(generatedFiles())) {
    it(`${path} is what the code says; if not, run npm run generate`, async () => {
      const committed = await readFile(join(import.meta.dirname, '..', path), 'utf8');
      assert.ok(committed === content, `${path} is stale`);
    });
  }

  it('nothing else is in the folder of the generated SDK', async () => {
    const files = (await readdir(join(import.meta.dirname, '..', SDK_FOLDER))).map(
      (name) => `${SDK_FOLDER}/${name}`,
    );
    assert.deepEqual(
      files.filter((path) => !(path in generatedFiles())),
      [],
    );
    assert.ok(files.length > 25);
  });
});
