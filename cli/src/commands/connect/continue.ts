import { join } from 'node:path';
import { type Client, type Connection, FIRST_MODEL, openaiBaseUrl } from './client.ts';
import type { Edit } from './edit.ts';
import { yamlFormat } from './yaml-format.ts';

// Continue, ~/.continue/config.yaml. Its secrets come from ~/.continue/.env or the environment.

const MODEL = ['models', { named: 'Gatehouse' }] as const;

export const continueDev: Client = {
  title: 'Continue',
  remarks: ({ key }) =>
    key.kind === 'value'
      ? []
      : [`set ${key.name} to a gateway key in ~/.continue/.env or in the environment`],
  configuration: {
    kind: 'file',
    format: yamlFormat,
    paths: ({ CONTINUE_GLOBAL_DIR }, home) => [
      join(CONTINUE_GLOBAL_DIR?.trim() || join(home, '.continue'), 'config.yaml'),
    ],
    edits,
  },
};

function edits(connection: Connection): Edit[] {
  const { key, model = FIRST_MODEL } = connection;
  return [
    { path: ['name'], value: 'Local Config', isDefault: true },
    { path: ['version'], value: '1.0.0', isDefault: true },
    { path: ['schema'], value: 'v1', isDefault: true },
    { path: [...MODEL, 'provider'], value: 'openai' },
    { path: [...MODEL, 'model'], value: model },
    { path: [...MODEL, 'apiBase'], value: openaiBaseUrl(connection) },
    { path: [...MODEL, 'apiKey'], value: key.kind === 'value' ? key.value : `\${{ secrets.${key.name} }}` },
  ];
}
