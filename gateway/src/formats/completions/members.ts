import { memberTable } from '../member-table.ts';

/** The members of `POST /v1/completions`. */
export const COMPLETIONS_MEMBERS = memberTable({
  model: ['common', 'judged', 'counted'],
  prompt: ['common', 'judged', 'counted'],
  suffix: ['common', 'judged', 'read'],
  stream: ['common', 'judged'],
  max_tokens: ['common', 'judged'],
  temperature: ['common'],
  top_p: ['common'],
  stop: ['common'],
  n: ['common', 'judged'],
  frequency_penalty: ['common'],
  presence_penalty: ['common'],
  echo: ['common'],
  logprobs: ['common'],
  best_of: ['common', 'judged'],
  seed: ['common'],
  stream_options: ['setting', 'judged'],
  user: ['setting'],
});
