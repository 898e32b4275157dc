import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readConfig } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { readChosenCatalogue } from './installation.ts';

describe('the catalogue that the settings name', () => {
  let path: string;
  before(async () => {
    path = join(await mkdtemp(join(tmpdir(), 'gatehouse-catalogue-')), 'routes.yaml');
  });
  after(() => rm(join(path, '..'), { recursive: true }));

  const issuesOf = async (text: string): Promise<readonly string[]> => {
    await writeFile(path, text);
    const error = await readChosenCatalogue(readConfig({ CATALOGUE: path })).catch(
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof ConfigError);
    return error.issues;
  };

  it('is refused with every issue, a line each', async () => {
    const named = `CATALOGUE is ${JSON.stringify(path)}, line`;
    const issues = await issuesOf('providers:\n  house:\n    base_url: ftp://x\nroutes: 5\nrutes: []\n');
    const expected = [
      '3 column 5 (providers.house.protocol): is missing; ',
      '3 column 15 (providers.house.base_url): must be an address ',
      '4 column 9 (routes): must be a list',
      '5 column 1 (rutes): is not a known member; ',
    ];
    assert.equal(issues.length, expected.length);
    for (const [index, beginning] of expected.entries())
      assert.ok(issues[index]?.startsWith(`${named} ${beginning}`), issues[index]);
  });

  it('is refused with the first 1,000 issues', async () => {
    const unknown = Array.from({ length: 1_200 }, (_, index) => `member_${index}: 1`).join('\n');
    assert.equal((await issuesOf(`providers: {}\nroutes: []\n${unknown}\n`)).length, 1_000);
  });
});
