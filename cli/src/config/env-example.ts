import { settings } from './config.ts';
import type { Setting } from './setting.ts';

/** .env.example, generated from the settings: every one, commented out, with its default. */
export function envExample(): string {
  const entries = Object.values<Setting<unknown>>(settings).map(
    ({ name, meaning, expected, fallbackText }) =>
      `# ${meaning}\n# Accepted: ${expected}. Default: ${fallbackText}.\n#${name}=\n`,
  );
  return `# Settings of Gatehouse. Copy this file to .env and set what you need; the environment takes precedence.
# Written by \`npm run generate\` from cli/src/config/config.ts. The keys of providers are named in catalogue.yaml.

${entries.join('\n')}`;
}
