import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { z } from 'zod';
import type { Endpoint } from './endpoint.ts';
import { endpoints } from './endpoints/index.ts';
import { rowsOfSchema } from './fields-in-words.ts';
import { jsonSchema, type NamedSchemas } from './json-schema.ts';

function lines(schema: z.ZodObject, side: 'sent' | 'got'): string[] {
  const named: NamedSchemas = {};
  return rowsOfSchema(jsonSchema(schema, side, named), side, named).map(({ path, cells }) =>
    [path, ...cells].join(' | '),
  );
}

describe('the fields of a schema in words', () => {
  it('have a type and rules, and where they are sent, whether they are required', () => {
    const all = (endpoints as readonly Endpoint[]).flatMap(({ query, headers, body, reply }) => [
      ...[query, headers, ...(body ? [body] : [])].flatMap((schema) => lines(schema, 'sent')),
      ...lines(reply, 'got'),
    ]);
    for (const line of [
      'password | yes | string | Common passwords are rejected. Not trimmed. 8 to 256 characters.',
      'idempotency-key | no | string | Any printable ASCII text. A second request of the organisation with the same value within 24 hours creates no key and returns 409. 1 to 255 characters.',
      'credit_limit_pkr | no | number or null | Lifetime cap in PKR, with at most 6 decimals; 0, null or absent: none. At least 0.',
      'credit_limit_cents | no | nothing | Always rejected: use `credit_limit_pkr` here.',
      'limit | no | integer | Rows in the page; more than 200 is lowered to 200. At least 1; `50` unless given.',
      'members[].role | `owner`, `admin`, `member` | ',
      'user.joined_at | timestamp | ISO 8601 with a numeric offset.',
      'events[].actor | string or null | ',
    ])
      assert.ok(all.includes(line), line);
  });
});
