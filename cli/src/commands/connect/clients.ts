import { claudeCode } from './claude-code.ts';
import type { Client } from './client.ts';
import { codex } from './codex.ts';
import { continueDev } from './continue.ts';
import { opencode } from './opencode.ts';
import { aiSdk, anthropic, cursor, openai, openWebui } from './text-clients.ts';

/** The clients by the name that the command takes. */
export const CLIENTS: ReadonlyMap<string, Client> = new Map([
  ['claude-code', claudeCode],
  ['codex', codex],
  ['cursor', cursor],
  ['opencode', opencode],
  ['continue', continueDev],
  ['open-webui', openWebui],
  ['openai', openai],
  ['anthropic', anthropic],
  ['ai-sdk', aiSdk],
]);
