import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withDemoBrowser } from './demo-browser.ts';
import { drawPicture, PICTURES } from './pictures.ts';

// `npm run pictures`: draws the pictures of the README again.

const FOLDER = 'docs/pictures';

await withDemoBrowser(async (service, browser) => {
  await mkdir(join(import.meta.dirname, '../..', FOLDER), { recursive: true });
  const files: string[] = [];
  for (const name of PICTURES) {
    const file = join(FOLDER, `${name}.svg`);
    await writeFile(join(import.meta.dirname, '../..', file), await drawPicture(service, browser, name));
    files.push(file);
  }
  return files;
});
