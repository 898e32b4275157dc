import { aiSdks } from './ai-sdk.ts';
import { anthropic } from './anthropic-sdk.ts';
import { langChains } from './langchain.ts';
import { openaiChat, openaiResponses } from './openai-sdk.ts';
import type { SdkClient } from './sdk-client.ts';

export type { Question, SdkClient } from './sdk-client.ts';
export { TOOL } from './sdk-client.ts';

export const SDK_CLIENTS: readonly SdkClient[] = [
  openaiChat,
  openaiResponses,
  anthropic,
  ...aiSdks,
  ...langChains,
];
