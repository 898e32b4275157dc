import { settings } from './config.ts';
import type { Setting } from './setting.ts';

/** docs/configuration.md, written from the settings themselves. */
export function configurationDocument(): string {
  const rows = Object.values<Setting<unknown>>(settings).map(
    ({ name, meaning, expected, fallbackText }) =>
      `| \`${name}\` | ${meaning} | ${expected} | ${fallbackText} |`,
  );
  return `# Configuration

<!-- Written by \`npm run generate\` from cli/src/config.ts. -->

Settings are environment variables; a file named \`.env\` in the working directory is read when it is there, and
what the environment itself says goes before it. A value that cannot be used stops the start with one line that
names the variable, its value and what is expected. A blank value is as good as none.

| variable | meaning | accepted | unless set |
|---|---|---|---|
${rows.join('\n')}

The variables that a catalogue names as \`api_key_env\` (for example \`OPENAI_API_KEY\`) hold the platform's own keys
for the providers; the gateway reads them when it starts.
`;
}
