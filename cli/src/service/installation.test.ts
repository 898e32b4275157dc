import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { applyCatalogue } from '@gatehouse/control-plane/catalogue';
import { readCatalogue } from '@gatehouse/control-plane/catalogue-file';
import { createCertificate } from '@gatehouse/http/testing';
import { useTestDatabase } from '@gatehouse/store/testing';
import { readConfig } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { readChosenCatalogue, requireUsableProviders } from './installation.ts';

const test = await useTestDatabase();

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

describe('the providers of the stored catalogue', () => {
  it('are refused at the start where a gateway cannot use their keys or certificates', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-providers-'));
    const caFile = join(folder, 'ca.pem');
    await writeFile(caFile, createCertificate().cert);
    const text = `providers:
  house:
    protocol: openai
    base_url: https://house.example/v1
    api_key_env: HOUSE_KEY
    ca_file: ${caFile}
routes:
  - { id: house/a, provider: house, upstream_model: a, price_pkr_per_million: { input: 1, output: 1 }, max_output_tokens: 10 }
`;
    await applyCatalogue(test.owner, readCatalogue(text, 'f.yaml'));
    await requireUsableProviders(test.owner, 'all', {});
    await rm(folder, { recursive: true });
    const environment = { HOUSE_KEY_FILE: '/missing/key' };
    const issuesFor = async (role: 'all' | 'api') => {
      const error = await requireUsableProviders(test.owner, role, environment).catch(
        (thrown: unknown) => thrown,
      );
      assert.ok(error instanceof ConfigError);
      return error.issues.map((issue) => issue.slice(0, issue.indexOf(', which cannot')));
    };
    const ofKey = 'HOUSE_KEY_FILE is "/missing/key"';
    const ofFile = `of the provider house of the catalogue, ca_file is ${JSON.stringify(caFile)}`;
    assert.deepEqual(await issuesFor('all'), [ofKey, ofFile]);
    // It makes no connections to providers.
    assert.deepEqual(await issuesFor('api'), [ofKey]);
  });
});
