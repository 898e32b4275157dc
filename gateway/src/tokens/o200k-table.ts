import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { writeRankTable } from './rank-table.ts';

/** The block of the tokens of o200k_base. The program reads a file instead: to write it takes a quarter of a second. */
export function readO200kTable(): Buffer {
  const require = createRequire(import.meta.url);
  const tokens = require(fileURLToPath(import.meta.resolve('gpt-tokenizer/bpeRanks/o200k_base')));
  return writeRankTable(tokens.default);
}
