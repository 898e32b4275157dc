import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { generatedDocuments } from './documents.ts';
import type { Endpoint } from './endpoint.ts';
import { endpoints } from './endpoints/index.ts';
import { navigations, SIGN_IN_ERRORS } from './navigation.ts';

const lines = (generatedDocuments()['docs/endpoints.md'] ?? '').split('\n');

describe('docs/endpoints.md', () => {
  for (const { name, method, path, summary, access, roles } of endpoints as readonly Endpoint[]) {
    it(`lists ${name}`, () => {
      const row = lines.find((line) => line.startsWith(`| \`${method} ${path}\` | \`${name}\` | ${summary}`));
      assert.ok(row);
      assert.ok(row.includes(` | ${access === 'public' ? 'anyone' : (roles?.join(', ') ?? 'session')} | `));
    });
  }

  it('lists the events of an endpoint, and the statuses that not all endpoints have', () => {
    const end = ' | anyone | 200, 429 | `user.login` |';
    assert.ok(lines.some((line) => line.startsWith('| `POST /auth/login` |') && line.endsWith(end)));
  });

  it('lists the paths that a browser is sent to, and the codes of a failed sign-in', () => {
    for (const { name, path } of navigations)
      assert.ok(lines.some((line) => line.startsWith(`| \`GET ${path}\` | \`${name}\` | `)));
    for (const [name, meaning] of Object.entries(SIGN_IN_ERRORS))
      assert.ok(lines.includes(`- \`${name}\`: ${meaning}`));
  });

  it('has tables with as many cells in each row as in the header', () => {
    const rows = lines.filter((line) => line.startsWith('|'));
    assert.deepEqual(
      rows.filter((row) => row.split('|').length !== 8),
      [],
    );
  });
});
