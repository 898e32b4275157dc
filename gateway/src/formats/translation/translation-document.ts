import { formatOf } from '../formats.ts';
import {
  DIRECTIONS,
  type Direction,
  FEATURES,
  type Feature,
  nameOf,
  TRANSLATED_FORMATS,
  type TranslatedFormat,
  treatmentOf,
} from './feature-table.ts';

/** The page docs/translation.md with its tables as the code says them, each between its two marks. */
export function withTranslationTables(page: string): string {
  // Features that are treated alike in every direction share a row.
  const features = Map.groupBy(Object.keys(FEATURES) as Feature[], (feature) =>
    DIRECTIONS.map((direction) => inWords(feature, direction)).join(' | '),
  );
  const rows = [...features].map(([cells, alike]) => [alike.map(nameOf).join('; '), cells]);
  const directions = DIRECTIONS.map((direction) => direction.replace(' to ', ' → '));
  const tables = {
    features: table(['feature', ...directions], rows),
    members: table(['format', 'common', 'further ones'], TRANSLATED_FORMATS.map(membersRow)),
  };
  return Object.entries(tables).reduce((text, [name, lines]) => {
    const [before, old, after] = text.split(
      new RegExp(`(?<=<!-- ${name} -->\n\n)|(?=\n<!-- end of ${name} -->)`),
    );
    if (old === undefined || after === undefined)
      throw new Error(`the page has no marks for its table of ${name}`);
    return before + lines + after;
  }, page);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((cells) => `| ${cells.join(' | ')} |\n`);
  return lines.toSpliced(1, 0, `|${'---|'.repeat(head.length)}\n`).join('');
}

function inWords(feature: Feature, direction: Direction): string {
  const treatment = treatmentOf(feature, direction) ?? '–';
  return treatment === 'translated' ? 'yes' : treatment;
}

function membersRow(format: TranslatedFormat): readonly string[] {
  const { common, translated } = formatOf(format).members;
  const list = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');
  return [format, list([...common]), list(translated.filter((name) => !common.has(name)))];
}
