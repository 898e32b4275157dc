import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { errorHelp } from './error-help.ts';

const UNKNOWN = errorHelp('no_such_code').title;

describe('what an error code means', () => {
  it('is said for every code of docs/gateway.md', async () => {
    const page = await readFile(join(import.meta.dirname, '../../../../docs/gateway.md'), 'utf8');
    const codes = [...page.matchAll(/^\| [45]\d\d \| `(\w+)` \|/gm)].map(([, code]) => code ?? '');
    assert.ok(codes.length >= 19, `${codes.length} codes`);
    assert.deepEqual(
      [...codes, 'upstream_stream_aborted'].filter((code) => errorHelp(code).title === UNKNOWN),
      [],
    );
  });

  it('is said for any status of a provider', () => {
    assert.equal(errorHelp('upstream_429').title, 'The limit of the provider was reached');
    assert.equal(errorHelp('upstream_418').title, 'The provider refused the request');
    assert.equal(errorHelp('upstream_599').title, 'The provider failed');
    assert.equal(errorHelp('upstream_429').source, 'provider');
  });

  it('is admitted to be unknown for anything else', () => {
    for (const code of ['constructor', '__proto__', 'upstream_', 'upstream_4290', ''])
      assert.equal(errorHelp(code).title, UNKNOWN);
  });
});
