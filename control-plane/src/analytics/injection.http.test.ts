import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { analytics, type Endpoint, endpoints } from '@gatehouse/contract';
import { startAnalyticsApi } from '../testing/analytics-api.ts';
import { duringTests } from '../testing/during-tests.ts';
import { type KeyAccount, signUpForKeys } from '../testing/key-account.ts';

const CANARY = 'canary-of-another-organisation';

// What means something to SQL, to the engine's own bindings, to a pattern, to a URL or to JSON.
const HOSTILE = [
  "'",
  "''",
  '\\',
  "\\'",
  '"',
  '`',
  "') OR 1=1--",
  "' OR '1'='1",
  "x' UNION ALL SELECT * FROM request_log --",
  '1; DROP TABLE request_log',
  ...'{x:String} {organization_id:UUID} {{organization_id}} %27 % _ * ? \\N NULL nan /* --'.split(' '),
  ...'# \n \t \\0 \u0001 $1 @@version [1] a\\'.split(' '),
  "toString(1)', 1",
  '0 OR 1',
  "2d' OR 1",
];

/** One of each kind: an end of a text, another query, a binding, a pattern, an argument more. */
const ONE_OF_EACH_KIND = [
  "\\'",
  "') OR 1=1--",
  "x' UNION ALL SELECT * FROM request_log --",
  '{organization_id:UUID}',
  '%',
  "toString(1)', 1",
];

/** The name of metadata that every row has. */
const NAME = 'm';

/** How many requests a reply is about. */
function foundIn(body: string): number {
  const { total } = JSON.parse(body);
  // Each costs one PKR, where a reply is about money.
  return typeof total === 'number' ? total : (total.requests ?? total.cost_pkr);
}

describe('hostile text in the parameters of analytics', () => {
  const started = duringTests(startAnalyticsApi);
  let account: KeyAccount;
  before(async () => {
    const { api } = started;
    const stranger = await signUpForKeys(api);
    account = await signUpForKeys(api);
    const { projectId } = account;
    await started.add(stranger, [
      { requestId: CANARY, model: CANARY, userAgent: CANARY, metadata: new Map([[CANARY, CANARY]]) },
      // Even of the same project, were a condition on the organisation lost.
      { requestId: CANARY, model: CANARY, projectId, totalTokens: 1_000_003 },
    ]);
    // Each text is the model, the id and the metadata of a row of its own, so that it has something to find.
    await started.add(
      account,
      HOSTILE.map((text) => ({
        model: text,
        requestId: text,
        metadata: new Map([
          [text, text],
          [NAME, text],
        ]),
        projectId,
        costMicroPkr: 1_000_000n,
      })),
    );
  });

  const analyticsEndpoints = endpoints.filter(({ section }) => section === 'analytics');

  /** The answer, without anything of the other organisation. */
  async function send(endpoint: Endpoint, query: Record<string, string>) {
    const reply = await account.client.send(endpoint, { query });
    const what = `${endpoint.name} ${JSON.stringify(query)}: ${reply.status} ${reply.text}`;
    assert.ok(!reply.text.includes(CANARY) && !reply.text.includes('1000003'), what);
    assert.ok([200, 400, 404].includes(reply.status), what);
    assert.doesNotMatch(reply.text, /Exception|Syntax|ClickHouse/, what);
    return { ...reply, what };
  }

  // A parameter gets all texts at the first endpoint that has it; the others read it by the same code.
  const tried = new Set<string>();
  for (const endpoint of analyticsEndpoints) {
    const required = endpoint === analytics.listSessions ? { metadata: NAME } : {};
    for (const name of Object.keys(endpoint.query.shape)) {
      const texts = tried.has(name) ? ONE_OF_EACH_KIND : HOSTILE;
      tried.add(name);
      it(`200, 400 or 404 from ${endpoint.name} for what its ${name} literally says`, async () => {
        for (const text of texts) {
          // An empty value counts as unset.
          if (text.trim() === '') continue;
          const { status, text: body, what } = await send(endpoint, { ...required, [name]: text });
          if (['model', 'model_alias'].includes(name)) {
            assert.equal(status, 200, what);
            const found = JSON.parse(body);
            if (['listRequests', 'listSessions'].includes(endpoint.name)) assert.equal(found.total, 1, what);
            if (endpoint === analytics.getSummary) assert.equal(found.total_requests, 1, what);
            if (endpoint === analytics.getTimeseries) {
              assert.deepEqual(
                found.data.map(({ group }: { group: string }) => group),
                [text],
                what,
              );
            }
          } else if (name === 'search') {
            const holding = HOSTILE.filter((other) => other.toLowerCase().includes(text.toLowerCase()));
            assert.equal(foundIn(body), holding.length, what);
          } else if (name === 'metadata') {
            assert.equal(foundIn(body), text === text.toLowerCase() ? 1 : 0, what);
          } else if (name === 'termination_reason' || name === 'error_code') {
            assert.equal(foundIn(body), 0, what);
          } else if (['key_id', 'project_id', 'member_id'].includes(name)) {
            assert.equal(status, 404, what);
          } else {
            assert.equal(status, 400, what);
          }
        }
      });
    }
  }
});
