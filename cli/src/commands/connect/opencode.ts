import { join } from 'node:path';
import { type Client, type Connection, FIRST_MODEL, keyRemark, openaiBaseUrl } from './client.ts';
import type { Edit } from './edit.ts';
import { jsonFormat } from './json-format.ts';

// OpenCode, ~/.config/opencode/opencode.jsonc or opencode.json, which may have comments. It offers only the models that are listed.

const PROVIDER = ['provider', 'gatehouse'];

export const opencode: Client = {
  title: 'OpenCode',
  remarks: (connection) => keyRemark(connection, 'opencode'),
  configuration: {
    kind: 'file',
    format: jsonFormat({ hasComments: true }),
    paths({ OPENCODE_CONFIG, XDG_CONFIG_HOME }, home) {
      const custom = OPENCODE_CONFIG?.trim();
      if (custom) return [custom];
      const directory = join(XDG_CONFIG_HOME?.trim() || join(home, '.config'), 'opencode');
      // It reads both, and the first wins.
      return [join(directory, 'opencode.jsonc'), join(directory, 'opencode.json')];
    },
    edits,
  },
};

function edits(connection: Connection): Edit[] {
  const { key, model = FIRST_MODEL } = connection;
  return [
    { path: ['$schema'], value: 'https://opencode.ai/config.json', isDefault: true },
    { path: ['model'], value: `gatehouse/${model}` },
    { path: [...PROVIDER, 'npm'], value: '@ai-sdk/openai-compatible' },
    { path: [...PROVIDER, 'name'], value: 'Gatehouse' },
    { path: [...PROVIDER, 'options', 'baseURL'], value: openaiBaseUrl(connection) },
    {
      path: [...PROVIDER, 'options', 'apiKey'],
      value: key.kind === 'value' ? key.value : `{env:${key.name}}`,
    },
    { path: [...PROVIDER, 'models', model, 'name'], value: model, isDefault: true },
  ];
}
