import { memberTable } from '../member-table.ts';

/** The members of `POST /v1/embeddings`. */
export const EMBEDDINGS_MEMBERS = memberTable({
  model: ['common', 'judged', 'counted'],
  input: ['common', 'judged', 'counted'],
  encoding_format: ['common'],
  dimensions: ['common'],
});
