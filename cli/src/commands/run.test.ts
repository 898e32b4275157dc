import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { DatabaseUnavailable } from '@gatehouse/store';
import { type Command, command } from '../terminal/command.ts';
import { CommandError, invalidValue } from '../terminal/errors.ts';
import { print, warn } from '../terminal/output.ts';
import { run } from './run.ts';

/** Runs a command line; what came of it. */
async function outcome(args: readonly string[], commandOfItsOwn?: Command, unwritten?: Error) {
  let stdout = '';
  let stderr = '';
  const code = await run(
    args,
    {
      environment: () => ({}),
      input: () => Readable.from([]),
      out: (text) => {
        stdout += text;
      },
      err: (text) => {
        stderr += text;
      },
      written: async () => unwritten,
      isTerminal: false,
    },
    ...(commandOfItsOwn ? [{ groups: {}, commands: [commandOfItsOwn] }] : []),
  );
  return { code, stdout, stderr };
}

const doing = (work: Command['run']) =>
  command({ name: 'do', summary: 'do it', inputs: {}, examples: [], run: work });

const failing = (error: unknown) =>
  doing(async () => {
    throw error;
  });

describe('run', () => {
  it('answers an error in JSON, on one line of standard error, where --json was asked for', async () => {
    for (const [args, own, code, text] of [
      [['do', '--json'], failing(new CommandError('no\nspace left')), 1, 'no space left'],
      [['do', '--json'], failing(new TypeError('unforeseen')), 1, /^TypeError: unforeseen\n/],
      [['stop', '--json'], undefined, 2, /there is no command "stop".*; see gatehouse --help$/],
      [['do', '--json', '--bogus'], doing(async () => 0), 2, /has no option "--bogus"/],
    ] as const) {
      const { stdout, stderr, ...rest } = await outcome(args, own);
      assert.deepEqual([rest.code, stdout], [code, '']);
      assert.match(stderr, /^[^\n]+\n$/);
      const document = JSON.parse(stderr);
      assert.equal(document.exit_code, code);
      if (typeof text === 'string') assert.equal(document.error, text);
      else assert.match(document.error, text);
    }
  });

  it('prints help on standard output with exit code 0', async () => {
    for (const args of [['--help'], ['org', '--help'], ['org', 'deposit', '--help']]) {
      const { code, stdout, stderr } = await outcome(args);
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, /^gatehouse.*\n[\s\S]*\nExamples\n {2}.*gatehouse/);
      for (const line of stdout.split('\n')) assert.ok(line.length <= 125, line);
    }
  });

  it('answers wrong usage with one line on standard error, which says where to read on, and exit code 2', async () => {
    for (const [args, end] of [
      [['stop'], '; see gatehouse --help'],
      [['org', 'stop'], '; see gatehouse org --help'],
      [['org', 'deposit', 'Acme'], '; see gatehouse org deposit --help'],
      [['org', 'deposit', 'Acme', '--bogus'], '; see gatehouse org deposit --help'],
    ] as const) {
      const { code, stdout, stderr } = await outcome(args);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /^gatehouse: [^\n]+\n$/);
      assert.ok(stderr.endsWith(`${end}\n`), stderr);
    }
  });

  // Judged before any database is looked for: there is none here.
  for (const [args, expected] of [
    ['start --role dashboard', '--role is "dashboard", expected all, api or gateway'],
    [
      'org deposit A --pkr 0',
      '--pkr is "0", expected an amount of PKR above 0 in plain digits with at most 6 decimals',
    ],
    ['org deposit A --pkr -1', '--pkr is "-1", expected an amount of PKR above 0'],
    [
      'org deposit A --pkr -1',
      '--pkr is "-1", expected an amount of PKR above 0 in plain digits with at most 6 decimals, such as 2500.50; gatehouse org withdraw takes credit back',
    ],
    ['org deposit A --pkr https://u:p/w@host/x', '--pkr is "https://…@host/x", expected an amount'],
    ['org deposit A --pkr 1e3', '--pkr is "1e3", expected an amount of PKR above 0 in plain digits'],
    ['org deposit A --pkr 1E-2', '--pkr is "1E-2", expected an amount of PKR above 0 in plain digits'],
    ['org deposit A --pkr 1_000', '--pkr is "1_000", expected an amount of PKR above 0 in plain digits'],
    ['org deposit A --pkr +5', '--pkr is "+5", expected an amount of PKR above 0 in plain digits'],
    [
      'org deposit A --pkr Infinity',
      '--pkr is "Infinity", expected an amount of PKR above 0 in plain digits',
    ],
    ['org deposit A --pkr .5', '--pkr is ".5", expected an amount of PKR above 0 in plain digits'],
    ['org deposit A --pkr 5.', '--pkr is "5.", expected an amount of PKR above 0 in plain digits'],
    ['org deposit A --pkr 007', '--pkr is "007", expected an amount of PKR above 0 in plain digits'],
    ['org deposit A --pkr １２', '--pkr is "１２", expected an amount of PKR above 0 in plain digits'],
    [
      'org withdraw A --pkr 0',
      '--pkr is "0", expected an amount of PKR above 0 in plain digits with at most 6 decimals',
    ],
    ['org withdraw A --pkr -1', '--pkr is "-1", expected an amount of PKR above 0'],
    ['org delete A', 'gatehouse org delete needs --yes where nobody can be asked'],
    ['key revoke sk_svc_AbCdEfGh', 'gatehouse key revoke needs --yes where nobody can be asked'],
    [
      'org create <b>',
      'NAME is "<b>", expected a name of 1 to 255 characters (The organisation name must not contain < or >.)',
    ],
    ['org rename A --name=', '--name is "", expected a name of 1 to 255 characters'],
    ['user set-role a@example.com boss', 'ROLE is "boss", expected owner, admin or member'],
    ['user create a@example.com --org A --role Owner', '--role is "Owner", expected owner, admin or member'],
    ['project rename A P --name=', '--name is "", expected one line of 1 to 255 characters'],
    ['org deposit A --pkr=-0.0', '--pkr is "-0.0", expected an amount of PKR above 0'],
    ['org deposit A --pkr 0.0000001', '--pkr is "0.0000001", expected an amount'],
    ['org deposit A --pkr 1,000', '--pkr is "1,000", expected an amount'],
    ['org deposit A --pkr 5PKR', '--pkr is "5PKR", expected an amount'],
    ['org deposit A --pkr NaN', '--pkr is "NaN", expected an amount'],
    ['org deposit A --pkr 0x10', '--pkr is "0x10", expected an amount'],
    ['org deposit A --pkr=', '--pkr is "", expected an amount'],
    [
      'org deposit A --pkr 9007199254.740992',
      '--pkr is "9007199254.740992", expected at most 9007199254.740991',
    ],
    ['org deposit A --pkr 1e400', '--pkr is "1e400", expected an amount'],
    [`org deposit A --pkr 1 --note ${'x'.repeat(501)}`, '--note is "xxx'],
    ['org deposit A --pkr 1 --note \ud800', '--note is "\\ud800", expected at most 500 characters'],
    [
      'org retention A --days 0',
      '--days is "0", expected a whole number from 1 to 36500, or default for 365',
    ],
    ['org retention A --days 36501', '--days is "36501", expected a whole number'],
    ['org retention A --days 1.5', '--days is "1.5", expected a whole number'],
    ['org retention A --days never', '--days is "never", expected a whole number'],
    ['project create A --name=', '--name is "", expected one line of 1 to 255 characters'],
    ['project byok-fallback A P maybe', 'on|off is "maybe", expected on or off'],
    ['project create A --name a\nb', '--name is "a\\nb", expected one line'],
  ] as const) {
    it(`refuses ${JSON.stringify(args.slice(0, 60))} with exit code 2`, async () => {
      const { code, stdout, stderr } = await outcome(args.split(' '));
      assert.deepEqual([code, stdout], [2, '']);
      assert.ok(stderr.startsWith(`gatehouse: ${expected}`), stderr);
      assert.match(stderr, /^[^\n]+; see gatehouse [a-z -]+ --help\n$/);
    });
  }

  it('says in one line what went wrong, with its cause, and exits with 1', async () => {
    for (const [error, expected] of [
      [new CommandError('no such thing'), 'no such thing'],
      [
        new DatabaseUnavailable('cannot be used', { cause: new Error('two\n lines') }),
        'cannot be used (two lines)',
      ],
      [Object.assign(new Error('EACCES: denied'), { code: 'EACCES' }), 'EACCES: denied'],
    ] as const) {
      assert.deepEqual(await outcome(['do'], failing(error)), {
        code: 1,
        stdout: '',
        stderr: `gatehouse: ${expected}\n`,
      });
    }
  });

  it('says where to read on when a command itself finds wrong usage', async () => {
    const { code, stderr } = await outcome(['do'], failing(invalidValue('--x', 'a\nb', 'one line')));
    assert.deepEqual(
      [code, stderr],
      [2, 'gatehouse: --x is "a\\nb", expected one line; see gatehouse do --help\n'],
    );
  });

  it('says that a command was carried out when only its answer could not be written', async () => {
    const full = new Error('ENOSPC: no space left');
    const carriedOut = 'gatehouse: the command was carried out, but its answer could not be written: ENOSPC';
    for (const [args, own, expected] of [
      [['do'], doing(async () => 0), carriedOut],
      [['do'], failing(new CommandError('no such thing')), 'gatehouse: no such thing\n'],
      [['--help'], undefined, 'gatehouse: the answer could not be written: ENOSPC'],
    ] as const) {
      const { code, stderr } = await outcome(args, own, full);
      assert.equal(code, 1);
      assert.ok(stderr.startsWith(expected), stderr);
      assert.match(stderr, /^[^\n]+\n$/);
    }
  });

  it('shows what was typed on one line, without what a terminal would obey', async () => {
    for (const args of [
      ['org', 'list', '--fo\no\u001b[2J'],
      ['--\u009bo\n'],
      ['a\u2028b\n'],
      ['org', '\u202ea\r\n'],
    ]) {
      const { code, stderr } = await outcome(args);
      assert.equal(code, 2);
      assert.match(stderr, /^gatehouse: [^\p{Cc}\p{Zl}\p{Bidi_Control}]+\n$/u);
    }
    const { stderr } = await outcome(['do'], failing(new CommandError('a\u001b[2Jb')));
    assert.equal(stderr, 'gatehouse: a\\u{1b}[2Jb\n');
  });

  it('shows where it happened when nobody foresaw it', async () => {
    const { code, stderr } = await outcome(['do'], failing(new Error('surprise')));
    assert.equal(code, 1);
    assert.match(stderr, /^gatehouse: Error: surprise\n +at /);
    const mistake = Object.assign(new TypeError('not a string'), { code: 'ERR_INVALID_ARG_TYPE' });
    assert.match((await outcome(['do'], failing(mistake))).stderr, /not a string\n +at /);
    const certificate = Object.assign(new Error('not its name'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
    assert.equal((await outcome(['do'], failing(certificate))).stderr, 'gatehouse: not its name\n');
  });

  it('prints text, or one JSON document with --json, and warnings elsewhere', async () => {
    const talking = doing(async (_args, context) => {
      print(context, { is_it: true }, ['It is.']);
      warn(context, 'but mind');
      return 0;
    });
    const stderr = 'gatehouse: but mind\n';
    assert.deepEqual(await outcome(['do'], talking), { code: 0, stdout: 'It is.\n', stderr });
    const { stdout, ...rest } = await outcome(['do', '--json'], talking);
    assert.deepEqual([JSON.parse(stdout), rest], [{ is_it: true }, { code: 0, stderr }]);
  });
});
