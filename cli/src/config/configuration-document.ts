import { settings } from './config.ts';
import type { Setting } from './setting.ts';

/** docs/configuration.md, generated from the settings. */
export function configurationDocument(): string {
  const rows = Object.values<Setting<unknown>>(settings).map(
    ({ name, meaning, expected, fallbackText }) =>
      `| \`${name}\` | ${meaning} | ${expected} | ${fallbackText} |`,
  );
  const files = Object.values<Setting<unknown>>(settings).flatMap(({ fileVariable }) => fileVariable ?? []);
  const inFiles = files
    .map((name) => `\`${name}\``)
    .join(', ')
    .replace(/, (?=[^,]*$)/, ' and ');
  return `# Configuration

<!-- Written by \`npm run generate\` from cli/src/config/config.ts. -->

Settings are environment variables. A file named \`.env\` in the working directory is read if it exists; the
environment takes precedence. Invalid values stop the start with one message that names each variable, its value without
secrets, what is expected and what to do. An empty value counts as unset.

A value that may hold a secret can be in a file, as Docker and Kubernetes mount secrets: ${inFiles} name it. So does the variable of a
provider's key with \`_FILE\` behind its name, for example \`OPENAI_API_KEY_FILE\`. A variable and its file together are an error.

| variable | meaning | accepted | default |
|---|---|---|---|
${rows.join('\n')}

The variables that a catalogue names in \`api_key_env\` (for example \`OPENAI_API_KEY\`) hold the platform's own keys
for the providers; the gateway reads them when it starts.
`;
}
