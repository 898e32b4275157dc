import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readCatalogue } from '@gatehouse/control-plane/catalogue-file';
import { PROJECT } from '../../service/project-command.ts';
import type { Context } from '../../terminal/command.ts';
import { invalidValue } from '../../terminal/errors.ts';
import { print, warn } from '../../terminal/output.ts';
import { readGivenFile } from '../given-file.ts';
import { catalogueOf } from './litellm-catalogue.ts';
import { readLitellmConfig } from './litellm-config.ts';
import { readUsdRate } from './usd-rate.ts';

/** Prints a catalogue made of the configuration of another gateway. */
export async function importRoutes(
  args: { readonly from: string; readonly file: string; readonly 'usd-pkr': string },
  context: Context,
): Promise<number> {
  if (args.from !== 'litellm') throw invalidValue('FROM', args.from, 'litellm');
  const usdPkr = readUsdRate(args['usd-pkr']);
  const text = await readGivenFile(args.file);
  const shipped = await readFile(join(PROJECT, 'catalogue.yaml'), 'utf8');
  const made = catalogueOf(readLitellmConfig(text), usdPkr, shipped);
  // What cannot be applied must not be printed as if it could.
  readCatalogue(made.text, 'the catalogue that was made of it');
  for (const what of made.leftOut) warn(context, `left out: ${what}`);
  for (const id of made.inactive) warn(context, `inactive, because its price is not known: ${id}`);
  print(
    context,
    { catalogue: made.text, routes: made.routes, inactive: made.inactive, left_out: made.leftOut },
    [made.text.trimEnd()],
  );
  return 0;
}
