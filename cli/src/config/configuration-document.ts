import { settings } from './config.ts';
import type { Setting } from './setting.ts';

/** Beyond this length, accepted values are stated for the first of several settings only. */
const LONG_TEXT = 40;

/** docs/configuration.md, generated from the settings. */
export function configurationDocument(): string {
  const all = Object.values<Setting<unknown>>(settings);
  const rows = all.map(({ name, meaning, expected, fallbackText }) => {
    const first = all.find((one) => one.expected === expected)?.name ?? name;
    const accepted = inTable(expected);
    const isRepeated = first !== name && accepted.length > LONG_TEXT;
    return `| \`${name}\` | ${meaning} | ${isRepeated ? `as ${first}` : accepted} | ${fallbackText} |`;
  });
  const files = all.flatMap(({ fileVariable }) => fileVariable ?? []);
  const inFiles = files
    .map((name) => `\`${name}\``)
    .join(', ')
    .replace(/, (?=[^,]*$)/, ' and ');
  return `# Configuration

<!-- Written by \`npm run generate\` from cli/src/config/config.ts. -->

Settings are environment variables, also from a file named \`.env\` in the working directory; the environment takes precedence. An empty
value counts as unset. Invalid ones stop the start with one message that names each, without secrets.

A secret can be in a file, as Docker and Kubernetes mount it: ${inFiles} name it, and so does the variable of a
provider's key, as \`OPENAI_API_KEY_FILE\`. A variable and its file together are an error.

A range below accepts whole numbers, a scheme such as https:// an address (with a port from 1 to 65535, if any), a plural several values, separated by
commas.

| variable | meaning | accepted | default |
|---|---|---|---|
${rows.join('\n')}

The variables that a catalogue names in \`api_key_env\` (for example \`OPENAI_API_KEY\`) hold the platform's keys; the gateway reads them when it starts.
`;
}

/** The accepted values without what the page says of all settings. */
function inTable(expected: string): string {
  return expected
    .replace(/^a whole number from /, '')
    .replace(/, with a port from .*$/, '')
    .replace(/^an? (?:well-formed )?address starting with /, '')
    .replace(', separated by commas', '');
}
