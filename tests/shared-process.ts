import { it } from 'node:test';
import { pathToFileURL } from 'node:url';

// The test file of a process that runs several: those that its arguments name, one after the other.
// It would end the tests of all, and nothing would say so.
process.exit = () => {
  throw new Error('a test ends its process, which it shares');
};

for (const file of process.argv.slice(2)) {
  try {
    await import(pathToFileURL(file).href);
  } catch (error) {
    // The others run all the same.
    it(`${file} can be loaded`, () => {
      throw error;
    });
  }
}
