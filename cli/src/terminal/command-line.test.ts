import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { table } from '../commands/table.ts';
import { command, flag, option, optionalArgument, requiredOption } from './command.ts';
import { type Commands, readCommandLine } from './command-line.ts';
import { UsageError } from './errors.ts';
import { usageOf } from './help.ts';

const done = async () => 0;

const commands: Commands = {
  groups: { box: 'boxes' },
  commands: [
    command({
      name: 'open',
      summary: 'open',
      inputs: { role: option('R', 'r') },
      examples: [],
      run: done,
    }),
    command({
      name: 'box fill',
      summary: 'fill a box',
      inputs: {
        box: optionalArgument('BOX', 'the box'),
        with: requiredOption('THING', 'what goes in'),
        note: option('TEXT', 'a note'),
        tight: flag('press it down'),
      },
      examples: ['gatehouse box fill B --with sand'],
      run: done,
    }),
    command({ name: 'box list', summary: 'list boxes', inputs: {}, examples: [], run: done }),
  ],
};

const read = (...args: string[]) => readCommandLine(args, commands);

function fault(...args: string[]): string {
  try {
    read(...args);
  } catch (error) {
    assert.ok(error instanceof UsageError);
    assert.ok(!error.message.includes('\n'));
    return error.message;
  }
  return assert.fail(`accepted ${args.join(' ')}`);
}

describe('readCommandLine', () => {
  it('takes help as a command for what --help does', () => {
    for (const [help, flag] of [
      [['help'], ['--help']],
      [
        ['help', 'box'],
        ['box', '--help'],
      ],
      [
        ['help', 'box', 'fill'],
        ['box', 'fill', '--help'],
      ],
    ] as const) {
      assert.deepEqual(read(...help), read(...flag));
    }
    assert.match(fault('help', 'bax'), /there is no command "bax"/);
  });

  it('asks whether a near word was meant', () => {
    assert.match(fault('opne'), /; did you mean "open"\? there are open, box$/);
    assert.match(fault('hlep'), /; did you mean "help"\? there are open, box$/);
    assert.match(fault('box', 'flil'), /; did you mean "fill"\? gatehouse box has fill, list$/);
    assert.match(fault('box', 'fill', '--wiht', 'sand'), /; did you mean "--with"\? it has --with, /);
    for (const args of [['fly'], ['box', 'paint'], ['x'.repeat(100_000)]]) {
      assert.doesNotMatch(fault(...args), /did you mean/);
    }
  });

  it('reads arguments and options, in any order and either spelling', () => {
    const expected = {
      kind: 'run',
      command: commands.commands[1],
      args: { box: 'B 1', with: 'sand' },
      isJson: true,
    };
    for (const args of [
      ['box', 'fill', 'B 1', '--with', 'sand', '--json'],
      ['--json', 'box', 'fill', '--with=sand', 'B 1'],
      ['--with', 'sand', 'box', '--json', 'fill', '--', 'B 1'],
    ])
      assert.deepEqual(read(...args), expected);
    assert.deepEqual(read('box', 'list'), {
      kind: 'run',
      command: commands.commands[2],
      args: {},
      isJson: false,
    });
  });

  it('reads a flag, which takes no word that follows it', () => {
    for (const [words, args] of [
      [['--tight', 'B', '--with', 'sand'], { box: 'B', with: 'sand', tight: '' }],
      [['B', '--with', 'sand', '--tight'], { box: 'B', with: 'sand', tight: '' }],
      [['B', '--with=--tight'], { box: 'B', with: '--tight' }],
    ] as const) {
      const invocation = read('box', 'fill', ...words);
      assert.deepEqual(invocation.kind === 'run' && invocation.args, args);
    }
  });

  it('takes what begins with a dash for a value or an argument where it is written so', () => {
    for (const [words, args] of [
      [['--with', '-5', '--', '-B'], { box: '-B', with: '-5' }],
      [['--with=--json', '--', '--help'], { box: '--help', with: '--json' }],
      [['--with=', ''], { box: '', with: '' }],
    ] as const) {
      const invocation = read('box', 'fill', ...words);
      assert.deepEqual(invocation.kind === 'run' && invocation.args, args);
    }
  });

  it('gives help of all, of a group and of a command, whatever else that command would need', () => {
    for (const [args, expected] of [
      [
        ['--help'],
        /^gatehouse: [\s\S]* {2}gatehouse box fill \[BOX\] --with THING \[--note TEXT\] \[--tight\]\n/,
      ],
      [['-h'], /^gatehouse: /],
      [['box', '--help'], /^gatehouse box: boxes\n[\s\S]*box list/],
      [
        ['--help', 'box', 'fill'],
        /^gatehouse box fill: fill a box\n[\s\S]*--with THING +what goes in \(required\)/,
      ],
      [['box', 'fill', 'B', '-h'], /^gatehouse box fill: /],
      [['open', '--help', '--json'], /^gatehouse open: /],
    ] as const) {
      const invocation = read(...args);
      assert.match(invocation.kind === 'help' ? invocation.text : '', expected);
    }
  });

  it('tells its version', () => {
    for (const args of [['--version'], ['-v'], ['open', '--version']])
      assert.deepEqual(read(...args), { kind: 'version' });
  });

  it('names what is wrong and what is accepted', () => {
    for (const [args, expected] of [
      [[], /^a command is needed: open, box$/],
      [['shut'], /^there is no command "shut"; there are open, box$/],
      [['shut', '--help'], /^there is no command "shut"/],
      [['constructor'], /^there is no command "constructor"/],
      [['box'], /^gatehouse box needs one more word: fill, list$/],
      [['box', 'burn'], /^there is no command "box burn"; gatehouse box has fill, list$/],
      [['box', 'burn', '--help'], /^there is no command "box burn"/],
      [['open', 'it'], /^"it" is one word too many; expected gatehouse open \[--role R\]/],
      [['box', 'fill', 'a', 'b'], /^"b" is one word too many/],
      [['box', 'list', '--all'], /^gatehouse box list has no option "--all"; it has --json, --help$/],
      [
        ['box', 'fill', '--role', 'x'],
        /has no option "--role"; it has --with, --note, --tight, --json, --help$/,
      ],
      [['box', 'fill', '--box', 'x'], /has no option "--box"/],
      [['box', 'fill', '-x'], /has no option "-x"/],
      [['box', 'fill', '--toString'], /has no option "--toString"/],
      [['--all'], /^"--all" is not accepted here; expected --help, --version or a command: open, box$/],
      [['--json'], /^"--json" is not accepted here/],
      [['--help', '--all'], /^"--all" is not accepted here/],
      [['box', '--help', '--all'], /^"--all" is not accepted here/],
      [['box', 'fill', 'B'], /^gatehouse box fill needs --with THING, what goes in$/],
      [['box', 'fill', '--with'], /^--with needs a value: THING/],
      [['box', 'fill', '--with', '--json'], /^--with needs a value: THING.*--with=--/],
      [['box', 'fill', '--with', 'a', '--with=b'], /^--with is given twice$/],
      [['box', 'fill', '--with', 'a', '--tight=no'], /^--tight takes no value$/],
      [['box', 'fill', '--tight', '--with', 'a', '--tight'], /^--tight is given twice$/],
      [['box', 'list', '--tight'], /^gatehouse box list has no option "--tight"/],
      [['box', 'list', '--json=yes'], /^--json takes no value$/],
    ] as const)
      assert.match(fault(...args), expected);
  });
});

/** A line as a shell splits it. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '');
}

describe('the commands', () => {
  for (const one of table.commands) {
    it(`gatehouse ${one.name} has help, an example and --json`, () => {
      const invocation = readCommandLine([...one.name.split(' '), '--help'], table);
      const text = invocation.kind === 'help' ? invocation.text : '';
      assert.ok(text.includes(`\n  ${usageOf(one)}\n`), text);
      assert.match(text, /\n {2}--json /);
      const [, examples = ''] = text.split('\nExamples\n');
      assert.ok(one.examples.length > 0);
      for (const example of one.examples) assert.ok(examples.includes(`  ${example}\n`));
      for (const { meaning } of Object.values(one.inputs)) assert.ok(text.includes(meaning));
    });

    it(`gatehouse ${one.name} understands its own examples`, () => {
      for (const example of one.examples) {
        const [, line = ''] = /(?:^|\s)gatehouse ([^|<>]*)/.exec(example) ?? [];
        const invocation = readCommandLine(wordsOf(line), table);
        assert.equal(invocation.kind === 'run' && invocation.command, one, example);
      }
    });

    it(`gatehouse ${one.name} refuses an option and a word that it does not know`, () => {
      const words = one.name.split(' ');
      assert.throws(
        () => readCommandLine([...words, '--bogus'], table),
        /has no option "--bogus"; it has .*--json/,
      );
      const tooMany = Object.keys(one.inputs).map(() => 'x');
      assert.throws(() => readCommandLine([...words, 'x', ...tooMany], table), UsageError);
    });

    const required = Object.values(one.inputs).some(({ isRequired }) => isRequired);
    it(`gatehouse ${one.name} ${required ? 'says what it needs' : 'needs nothing'}`, () => {
      const alone = () => readCommandLine(one.name.split(' '), table);
      if (required) assert.throws(alone, /^UsageError: gatehouse [a-z -]+ needs /);
      else assert.equal(alone().kind, 'run');
    });
  }

  it('are those that docs/operator-commands.md lists', async () => {
    const text = await readFile(join(import.meta.dirname, '../../../docs/operator-commands.md'), 'utf8');
    const [, list = ''] = /```\n(gatehouse start[\s\S]*?)```/.exec(text) ?? [];
    assert.deepEqual(list.trim().split('\n'), table.commands.map(usageOf));
    // What is shown in use must be understood too.
    for (const [, line = ''] of text.matchAll(/(?:^|[$(] ?|`)gatehouse ([a-z][^`|<>)\n]*)/gm)) {
      const words = wordsOf(line).filter((word) => !word.startsWith('['));
      const known = table.commands.some(({ name }) => words.join(' ').startsWith(name));
      assert.ok(known || Object.hasOwn(table.groups, words[0] ?? ''), line);
    }
  });

  it('have groups with help of their own', () => {
    for (const group of Object.keys(table.groups)) {
      const invocation = readCommandLine([group, '--help'], table);
      const text = invocation.kind === 'help' ? invocation.text : '';
      for (const one of table.commands.filter(({ name }) => name.startsWith(`${group} `)))
        assert.ok(text.includes(usageOf(one)));
    }
  });
});
