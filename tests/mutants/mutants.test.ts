import assert from 'node:assert/strict';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { checkMutant, readMutants } from './mutants.ts';

// `npm run mutants` shows whether each mutant is caught. This test checks that each one applies.

const root = join(import.meta.dirname, '..', '..');

describe('mutants', () => {
  it('say what is wrong and which test catches it, and apply to the project as it is', async () => {
    const mutants = await readMutants();
    const problems: string[] = [];
    for (const mutant of mutants) {
      const { name, what, caughtBy } = mutant;
      if (what === '') problems.push(`${name}: "# what:" is missing`);
      if (caughtBy.length === 0) problems.push(`${name}: "# caught by:" is missing`);
      for (const path of caughtBy)
        await access(join(root, path)).catch(() => problems.push(`${name}: there is no ${path}`));
      await checkMutant(mutant).catch((error) => problems.push(`${name}: ${error}`));
    }
    assert.deepEqual(problems, []);
  });
});
