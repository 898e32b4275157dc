import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { decodeLines, encodeLine, JOURNAL_FORMAT } from '@gatehouse/gateway/testing';
import { createTestDatabase, type TestDatabase } from '@gatehouse/store/testing';
import { ACCEPTED } from './accepted.ts';
import { schemaProblems } from './compare-schemas.ts';
import {
  RECORD,
  type RecordedStatement,
  type ReleaseRecord,
  recordRelease,
  recordStatement,
  whyNotRun,
} from './release-record.ts';

// In a rolling upgrade the last release runs on the schema of this version. docs/upgrading.md says how a migration leaves that possible.

type Client = Awaited<ReturnType<TestDatabase['owner']['connect']>>;

const root = join(import.meta.dirname, '../..');
const last = JSON.parse(await readFile(RECORD, 'utf8')) as ReleaseRecord;
const found = new Set<string>();

/** Without those that were accepted with a reason. */
function unaccepted(problems: readonly string[]): string[] {
  for (const problem of problems) found.add(problem);
  return problems.filter((problem) => !(problem in ACCEPTED));
}

/** The statements of the last release that match, on connections as the owner and as the service. */
async function statementProblems(test: TestDatabase, matching = /./): Promise<string[]> {
  const [owner, service] = [await test.owner.connect(), await test.database.connect()];
  const problems: string[] = [];
  try {
    for (const [name, was] of Object.entries(last.statements))
      if (matching.test(was.text)) problems.push(...(await problemsOf(owner, service, name, was)));
  } finally {
    await Promise.all([owner.end(), service.end()]);
  }
  return problems;
}

async function problemsOf(
  owner: Client,
  service: Client,
  name: string,
  was: RecordedStatement,
): Promise<string[]> {
  const parameterNames = was.parameters.map((parameter) => parameter.split(' ')[0] ?? '');
  const is = await recordStatement(owner, service, { name, text: was.text, parameterNames }).catch(
    (error: Error) => error.message,
  );
  if (typeof is === 'string') return [`${name}: ${is}`];
  const refusal = was.isForService ? await whyNotRun(service, was.text) : undefined;
  return [
    ...(refusal === undefined ? [] : [`${name}: ${refusal}`]),
    ...differences(name, was.parameters, is.parameters),
    ...differences(name, was.columns, is.columns),
  ];
}

function differences(name: string, was: readonly string[], is: readonly string[]): string[] {
  return was.flatMap((one, index) => (one === is[index] ? [] : [`${name}: was ${one} and is ${is[index]}`]));
}

describe(`this schema, and version ${last.version} on it`, () => {
  let test: TestDatabase;
  let present: ReleaseRecord;
  before(async () => {
    present = await recordRelease();
    test = await createTestDatabase();
  });
  after(() => test?.[Symbol.asyncDispose]());

  it('every statement of it still fits, with its parameters, columns and rights', async () => {
    assert.ok(Object.keys(last.statements).length > 100);
    assert.deepEqual(unaccepted(await statementProblems(test)), []);
  });

  it('the rows that it writes are accepted, and those that it reads are as it knows them', () => {
    assert.deepEqual(unaccepted(schemaProblems(last.schema, present.schema)), []);
  });

  it('no step of it has changed; and where a function or a right has, there is a new step, so that the older of two nodes can tell', () => {
    const { steps, files } = last;
    assert.deepEqual(
      Object.entries(steps).filter(([path, checksum]) => present.steps[path] !== checksum),
      [],
    );
    const names = new Set([...Object.keys(files), ...Object.keys(present.files)]);
    const changed = [...names].filter((path) => files[path] !== present.files[path]);
    if (Object.keys(present.steps).length === Object.keys(steps).length) assert.deepEqual(changed, []);
  });

  it('the request log has every column of it', () => {
    const changed = Object.entries(last.requestLog).filter(
      ([name, type]) => present.requestLog[name] !== type,
    );
    assert.deepEqual(
      unaccepted(
        changed.map(([name, type]) => `request_log.${name} was ${type} and is ${present.requestLog[name]}`),
      ),
      [],
    );
  });

  it('a journal of it is read, to the last field', async () => {
    assert.equal(JOURNAL_FORMAT, last.journal.format);
    const { requests, damaged } = await decodeLines(Buffer.from(last.journal.line));
    assert.deepEqual([requests.length, damaged.length], [1, 0]);
    const memberOf = (line: string) => JSON.parse(line.slice(9)) as Record<string, unknown>;
    const again = memberOf(encodeLine(requests[0] ?? assert.fail()));
    for (const [name, value] of Object.entries(memberOf(last.journal.line)))
      assert.deepEqual(again[name], value, name);
  });

  it('both count rates in Redis by the same scripts', () => {
    const changed = Object.entries(last.redisScripts).filter(
      ([name, hash]) => present.redisScripts[name] !== hash,
    );
    assert.deepEqual(unaccepted(changed.map(([name]) => `the script ${name} has changed`)), []);
  });

  it('nothing is accepted that is no longer found', () => {
    assert.deepEqual(
      Object.keys(ACCEPTED).filter((problem) => !found.has(problem)),
      [],
    );
  });

  it('would be caught by this test where one breaks it', async () => {
    await using broken = await createTestDatabase();
    const client = await broken.owner.connect();
    await client.query(`
      ALTER TABLE sessions RENAME COLUMN user_id TO account_id;
      ALTER TABLE organizations ALTER COLUMN name DROP NOT NULL;
      REVOKE SELECT ON api_keys FROM gatehouse_service;
      ALTER FUNCTION append_activity RENAME TO append_entry`);
    await client.end();
    const problems = await statementProblems(broken, /api_keys|organizations|append_activity|sessions/);
    for (const expected of [
      /column .*user_id.* does not exist/,
      /was name text not null and is name text$/,
      /permission denied for table api_keys/,
      /function append_activity.* does not exist/,
    ])
      assert.ok(
        problems.some((problem) => expected.test(problem)),
        `${expected}: ${problems.join('\n')}`,
      );
  });
});

describe('a change of the schema', () => {
  const table = (...lines: string[]) => ['CREATE TABLE t (', ...lines, ');'];
  const base = ['  id uuid NOT NULL DEFAULT gen_random_uuid(),', '  name text NOT NULL,', '  note text'];
  const problems = (...lines: string[]) => schemaProblems(table(...base), table(...lines));

  it('is none for the version before where it only adds', () => {
    assert.deepEqual(problems(...base), []);
    assert.deepEqual(
      schemaProblems(table(...base), [...table(...base, '  more text,'), 'CREATE INDEX i ON t (name);']),
      [],
    );
    assert.deepEqual(
      problems(...base, '  more integer NOT NULL DEFAULT 0,', '  CONSTRAINT c CHECK (more >= 0)'),
      [],
    );
    assert.deepEqual(problems(...base, '  n bigint NOT NULL GENERATED ALWAYS AS IDENTITY'), []);
  });

  it('is a problem for it where it takes away or demands', () => {
    const [id = '', name = '', note = ''] = base;
    assert.deepEqual(schemaProblems(table(...base), []), ['t is gone']);
    assert.deepEqual(problems(id, name), ['t.note is gone']);
    assert.deepEqual(problems(id, name, '  note integer'), ['t.note was text and is integer']);
    assert.deepEqual(problems(id, name, '  note text NOT NULL'), ['t.note may no longer be null']);
    assert.deepEqual(problems(id, '  name text,', note), ['t.name may be null, which readers do not expect']);
    assert.deepEqual(problems('  id uuid NOT NULL,', name, note), ['t.id has no default any more']);
    assert.deepEqual(problems(...base, '  more text NOT NULL'), [
      't.more is new, not null, and has no default',
    ]);
    assert.deepEqual(problems(...base, '  CONSTRAINT c CHECK (length(name) < 9)'), [
      't has a new rule: CONSTRAINT c CHECK (length(name) < 9)',
    ]);
    assert.deepEqual(
      schemaProblems(table(...base), [...table(...base), 'CREATE UNIQUE INDEX i ON t (name);']),
      ['t has a new rule: CREATE UNIQUE INDEX i ON t (name);'],
    );
  });

  it('is read from the schema as it is: every table, every column', async () => {
    const lines = (await readFile(join(root, 'store/src/postgres/schema.sql'), 'utf8')).split('\n');
    const without = lines.filter((line) => !/^ {2}rate_limit_rpm /.test(line));
    assert.equal(without.length, lines.length - 1);
    assert.deepEqual(schemaProblems(lines, without), ['api_keys.rate_limit_rpm is gone']);
  });
});
