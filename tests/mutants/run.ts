import { type Count, runFiles } from '../run-files.ts';
import { startTestServers } from '../servers.ts';
import { copyProject, readMutants } from './mutants.ts';

// `npm run mutants`: makes each mistake of this folder in a copy of the project and runs the tests that must catch it. With
// arguments, only the mutants whose name contains one of them. Exits 1 when a mutant survives, does not apply, or names a test that
// fails without it. The last line is the count.

const FILE_MS = 5 * 60_000;

const only = process.argv.slice(2);
const mutants = (await readMutants()).filter(
  ({ name }) => only.length === 0 || only.some((part) => name.includes(part)),
);
await using _ = await startTestServers();
await using copy = await copyProject();
const testOf = async (paths: readonly string[]): Promise<{ count: Count; report: string }> => {
  let report = '';
  const count = await runFiles(paths, {
    ...{ root: copy.root, concurrency: 1, fileMs: FILE_MS },
    // A process keeps the code that it has loaded, and the code changes between two runs.
    needsProcess: () => true,
    write: (text) => (report += text),
  });
  return { count, report };
};

const count = { passed: 0, failed: 0 };
const tell = (isGood: boolean, name: string, text: string) => {
  count[isGood ? 'passed' : 'failed'] += 1;
  process.stdout.write(`${isGood ? '✔' : '✖'} ${name}: ${text}\n`);
};

for (const file of new Set(mutants.flatMap(({ caughtBy }) => caughtBy))) {
  const { count: before, report } = await testOf([file]);
  if (before.failed > 0 || before.passed === 0) {
    process.stdout.write(report);
    tell(false, file, 'does not pass without a mutant');
  }
}
for (const mutant of mutants) {
  try {
    await copy.apply(mutant);
  } catch (error) {
    tell(false, mutant.name, `does not apply: ${error}`);
    continue;
  }
  const { count: caught } = await testOf(mutant.caughtBy);
  await copy.revert(mutant);
  tell(caught.failed > 0, mutant.name, `${mutant.what}: ${caught.failed > 0 ? 'caught' : 'SURVIVED'}`);
}
process.stdout.write(`${count.passed} passed, ${count.failed} failed\n`);
process.exitCode = count.failed === 0 && count.passed > 0 ? 0 : 1;
