import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { generatedDocuments } from './documents.ts';
import type { Endpoint } from './endpoint.ts';
import { endpoints } from './endpoints/index.ts';

const page = generatedDocuments()['docs/endpoints.md'] ?? '';

describe('docs/endpoints.md', () => {
  for (const { name, method, path, access, roles } of endpoints as readonly Endpoint[]) {
    it(`lists ${name} in its table and under its own heading`, () => {
      const row = page.split('\n').find((line) => line.startsWith(`| \`${method} ${path}\` | \`${name}\` |`));
      assert.ok(row);
      assert.ok(row.includes(`| ${access === 'public' ? 'anyone' : (roles?.join(', ') ?? 'session')} |`));
      assert.ok(page.includes(`\n### \`${method} ${path}\`\n`));
    });
  }

  it('lists the statuses and events of an endpoint', () => {
    assert.ok(
      page.includes(
        '| `POST /auth/login` | `login` | anyone | 200, 400, 401, 403, 413, 415, 421, 429, 500, 503 | `user.login` |',
      ),
    );
  });

  it('lists the other formats of a reply', () => {
    const parts = page.split('\n### ');
    assert.deepEqual(
      parts.filter((part) => part.includes('\n- `text/csv`: All rows')).map((part) => part.split('\n')[0]),
      ['`GET /analytics/requests`'],
    );
  });

  it('lists fields with their types and rules', () => {
    for (const row of [
      '| `password` | yes | string | Common passwords are rejected. Not trimmed. 8 to 256 characters. |',
      '| `Idempotency-Key` | no | string | Any printable ASCII text. A second request of the organisation with the same value within 24 hours creates no key and returns 409. 1 to 255 characters. |',
      '| `credit_limit_pkr` | no | number or null | Lifetime cap in PKR, with at most 6 decimals; 0, null or absent: none. At least 0. |',
      '| `credit_limit_cents` | no | nothing | Always rejected: use `credit_limit_pkr` here. |',
      '| `limit` | no | integer | Rows in the page; more than 200 is lowered to 200. At least 1; `50` unless given. |',
      '| `members[].role` | `owner`, `admin`, `member` |  |',
      '| `user.joined_at` | timestamp | ISO 8601 with a numeric offset. |',
      '| `events[].actor` | string or null |  |',
    ]) {
      assert.ok(page.includes(`${row}\n`), row);
    }
  });

  it('names every parameter and the first field of every reply, in a row or by the endpoint that has it', () => {
    for (const { method, path, query, reply } of endpoints as readonly Endpoint[]) {
      const text =
        page.split(`\n### \`${method} ${path}\`\n`)[1]?.split('\n## ')[0]?.split('\n### ')[0] ?? '';
      for (const name of Object.keys(query.shape)) assert.ok(text.includes(`\`${name}\``), `${path} ${name}`);
      const [first = ''] = Object.keys(reply.shape);
      assert.ok(text.includes(`\n| \`${first}\` | `) || /\nThe reply has the fields of /.test(text), path);
    }
  });

  it('refers to the fields that an earlier endpoint of the section has, and lists what is more', () => {
    const part = (heading: string) => page.split(`\n### \`${heading}\`\n`)[1]?.split('\n### ')[0] ?? '';
    assert.ok(
      part('POST /spend-limits').includes(
        '\nThe reply has the fields of `limits[]` of `GET /spend-limits`.\n',
      ),
    );
    const one = part('GET /keys/{key_id}');
    assert.ok(
      one.includes(
        '\nThe reply has the fields of `keys[]` of `GET /keys`, and more:\n\n| Reply | Type | Rules |',
      ),
    );
    assert.ok(one.includes('\n| `created_by` | object or null |') && !one.includes('| `rate_limit_rpm` |'));
    const trend = part('GET /analytics/trend');
    assert.ok(trend.includes('With the fields of `total`.') && !trend.includes('`other.requests`'));
    assert.match(trend, /\nAs in `GET \/analytics\/spend`: .*`time_range`, `from`, `to`/);
  });

  it('has tables with as many cells in each row as in the header', () => {
    let columns = 0;
    for (const line of page.split('\n')) {
      const cells = line.startsWith('|') ? line.replaceAll('\\|', '').split('|').length : 0;
      if (columns > 0 && cells > 0) assert.equal(cells, columns, line);
      columns = cells;
    }
  });
});
