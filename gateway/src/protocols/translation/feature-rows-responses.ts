import type { FeatureRows } from './feature-table.ts';

/** What becomes of each feature between responses and the other two formats. */
export const RESPONSES_ROWS: FeatureRows<
  'chat to responses' | 'messages to responses' | 'responses to chat' | 'responses to messages'
> = {};
