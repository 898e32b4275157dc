import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { SIGN_IN_ERRORS } from '@gatehouse/contract';

const FILE = join(import.meta.dirname, '../../dashboard/src/pages/sign-in/sign-in-errors.ts');

describe('the sign-in page', () => {
  it('has a sentence for every code that the API sends it, and for no other', async () => {
    const codes = [...(await readFile(FILE, 'utf8')).matchAll(/^ {2}(\w+):\s+'[A-Z].+\.',$/gm)].map(
      ([, code]) => code,
    );
    assert.deepEqual(codes, Object.keys(SIGN_IN_ERRORS));
  });
});
