import { join, resolve } from 'node:path';
import { withDemoBrowser } from './demo-browser.ts';
import { takeScreenshots } from './take-screenshots.ts';

// `npm run screenshots -- FOLDER [PAGE ...]`: screenshots of the pages on the demo's data.

const [folder, ...pages] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write('Say where to put them: npm run screenshots -- FOLDER [PAGE ...]\n');
  process.exitCode = 2;
} else {
  await withDemoBrowser(async (service, browser) => {
    const names = await takeScreenshots(service, browser, resolve(folder), pages);
    return names.map((name) => join(folder, name));
  });
}
