import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { table } from '../commands/table.ts';
import { completionScript, type ShellName } from './completion.ts';

const run = promisify(execFile);

/** The words that a shell offers for a line; the last word is being typed. */
type Offer = (script: string, line: readonly string[]) => Promise<string[]>;

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');

const offers: Readonly<Record<ShellName, Offer>> = {
  async bash(script, line) {
    const words = line.map((word) => `'${word}'`).join(' ');
    const program = `source '${script}'; COMP_WORDS=(${words}); COMP_CWORD=${line.length - 1}; _gatehouse; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return linesOf((await run('bash', ['--norc', '-c', program], { cwd: join(script, '..') })).stdout);
  },
  async zsh(script, line) {
    const words = line.map((word) => `'${word}'`).join(' ');
    const program = `compdef() { :; }; _files() { print -- FILES; }; _describe() { print -l -- "\${(@)choices%%:*}"; }
source '${script}'; words=(${words}); CURRENT=${line.length}; _gatehouse`;
    const shown = linesOf((await run('zsh', ['-f', '-c', program])).stdout);
    return shown.filter((word) => word.startsWith(line.at(-1) ?? ''));
  },
  async fish(script, line) {
    const text = line.join(' ');
    const { stdout } = await run('fish', ['--no-config', '-c', `source '${script}'; complete -C '${text}'`]);
    return linesOf(stdout).map((row) => row.split('\t')[0] ?? '');
  },
};

describe('completion', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-completion-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const groups = Object.keys(table.groups);
  const alone = table.commands.map(({ name }) => name).filter((name) => !name.includes(' '));
  const within = (group: string) =>
    table.commands.flatMap(({ name }) =>
      name.startsWith(`${group} `) ? [name.slice(group.length + 1)] : [],
    );

  for (const [shell, offer] of Object.entries(offers) as [ShellName, Offer][]) {
    it(`of ${shell} offers every command, and the options of each`, async (test) => {
      if (!(await run(shell, ['--version']).catch(() => undefined)))
        return test.skip(`there is no ${shell} here`);
      const file = join(folder, `gatehouse.${shell}`);
      await writeFile(file, completionScript(shell, table));
      const offered = async (...line: string[]) => new Set(await offer(file, ['gatehouse', ...line]));
      const first = await offered('');
      for (const word of [...groups, ...alone]) assert.ok(first.has(word), word);
      assert.deepEqual([...(await offered('ac'))].sort(), ['account', 'activity']);
      for (const group of ['org', 'account'])
        for (const word of within(group)) assert.ok((await offered(group, '')).has(word), `${group} ${word}`);
      assert.deepEqual([...(await offered('org', 'de'))].sort(), ['delete', 'deposit']);
      for (const { name, inputs } of table.commands.filter((one) =>
        /^(org deposit|user create|start|size)$/.test(one.name),
      )) {
        const options = await offered(...name.split(' '), '--');
        for (const [option, { kind }] of Object.entries(inputs))
          if (kind !== 'argument') assert.ok(options.has(`--${option}`), `${name} --${option}`);
        assert.ok(options.has('--json'), name);
        assert.ok(!options.has('--nothing'));
      }
      // Arguments and options before do not count as words of the command.
      assert.ok((await offered('org', 'deposit', 'Acme', '--pkr', '5', '--n')).has('--note'));
    });
  }
});
