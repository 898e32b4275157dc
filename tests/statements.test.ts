import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { glob, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { declaredStatements } from '@gatehouse/store';
import { createTestDatabase, describeStatement, type TestDatabase } from '@gatehouse/store/testing';
import { type CheckedStatement, checksOf } from './statement-types.ts';

// Every statement against the migrated schema. PostgreSQL prepares it and says which parameters and columns it has, of
// which type, and whether they can be null; the compiler then compares that with the declared types.

const root = join(import.meta.dirname, '..');
// Besides every queries.ts.
const ALSO = ['pooled-session', 'readiness', 'roles'].map((name) => `store/src/postgres/${name}.ts`);
const TSC_MS = 120_000;
// The name of each declaration, whatever its types are.
const DECLARATIONS = /\bstatement(?:<[^(]*?>)?\(\s*'([^']+)'/g;

describe('statements', () => {
  let test: TestDatabase;
  let directory: string;
  before(async () => {
    test = await createTestDatabase();
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-statements-'));
  });
  after(async () => {
    await test?.[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  /** By the name of the statement, what does not fit. */
  async function problemsOf(paths: readonly string[]): Promise<Map<string, string>> {
    const problems = new Map<string, string>();
    const checked: CheckedStatement[] = [];
    const exported = new Set<unknown>();
    const client = await test.owner.connect();
    try {
      const before = new Set(declaredStatements().keys());
      for (const path of paths) {
        const values = Object.entries((await import(join(root, path))) as Record<string, unknown>);
        for (const [exportName, value] of values) {
          const declared = [...declaredStatements().values()].find((candidate) => candidate === value);
          if (declared === undefined) continue;
          exported.add(declared);
          const { name } = declared;
          await describeStatement(client, declared).then(
            (described) => checked.push({ name, path: join(root, path), exportName, described }),
            (error) => problems.set(name, String(error)),
          );
        }
      }
      // Once all are there: one file of statements may use a part of another.
      for (const [name, declared] of declaredStatements())
        if (!before.has(name) && !exported.has(declared)) problems.set(name, 'is not exported');
    } finally {
      await client.end();
    }
    for (const [name, problem] of await compile(checked)) problems.set(name, problem);
    return problems;
  }

  async function compile(checked: readonly CheckedStatement[]): Promise<[string, string][]> {
    const { text, lines } = checksOf(checked, join(root, 'store/src/postgres/statement.ts'));
    await writeFile(join(directory, 'checks.mts'), text);
    await writeFile(
      join(directory, 'tsconfig.json'),
      JSON.stringify({
        extends: join(root, 'tsconfig.json'),
        compilerOptions: { typeRoots: [join(root, 'node_modules/@types')] },
        include: ['checks.mts'],
      }),
    );
    const tsc = promisify(execFile)(
      join(root, 'node_modules/.bin/tsc'),
      ['-p', directory, '--pretty', 'false'],
      {
        timeout: TSC_MS,
        maxBuffer: 2 ** 26,
        cwd: directory,
      },
    );
    const { stdout } = await tsc.catch((error: { stdout: string }) => error);
    const found = [...stdout.matchAll(/^(\S+)\((\d+),\d+\): error TS\d+: (.*(?:\n .*)*)/gm)];
    return found.map(([, file, line, message]) => {
      const statement = file === 'checks.mts' ? lines.get(Number(line)) : undefined;
      assert.ok(statement && message, `the compiler says something else: ${stdout.slice(0, 2_000)}`);
      return [statement.name, message];
    });
  }

  it('fit the schema: the text, the names and types of parameters and columns, and what can be null', async () => {
    const paths = await Array.fromAsync(
      glob('*/src/**/queries.ts', { cwd: root, exclude: (path) => path.includes('node_modules') }),
    );
    assert.ok(paths.length >= 10, paths.join());
    const problems = await problemsOf([...paths.sort(), ...ALSO]);
    assert.deepEqual([...problems], []);
    assert.ok(declaredStatements().size >= 50);
  });

  it('would be caught by this test where they do not', async () => {
    const problems = await problemsOf(['tests/statements.fixture.ts']);
    assert.deepEqual([...problems.keys()].sort(), [
      'fixture-column-is-gone',
      'fixture-column-is-not-declared',
      'fixture-member-is-misnamed',
      'fixture-null-is-not-declared',
      'fixture-parameter-is-wrong',
      'fixture-type-is-wrong',
    ]);
    assert.match(problems.get('fixture-column-is-gone') ?? '', /column "owner" does not exist/);
    assert.match(problems.get('fixture-null-is-not-declared') ?? '', /expiresAt/);
  });

  it('have names of their own in tests and drills too, whose files share a process in any order', async () => {
    const paths = await Array.fromAsync(
      glob('{*/src,bench,tests}/**/*.ts', { cwd: root, exclude: (path) => path.includes('node_modules') }),
    );
    const files = new Map<string, Set<string>>();
    for (const path of paths)
      for (const [, name = ''] of (await readFile(join(root, path), 'utf8')).matchAll(DECLARATIONS))
        files.set(name, (files.get(name) ?? new Set()).add(path));
    assert.ok(files.size >= 200, `${files.size} declarations found`);
    const shared = [...files].filter(([, declaring]) => declaring.size > 1);
    assert.deepEqual(shared, []);
  });
});
