import type { JsonObject } from '../wire/json.ts';

// Vectors without a model: the words of a text point into fixed directions, so that texts with the same words are near
// each other. The same text has the same vector, always.

export const DEFAULT_DIMENSIONS = 256;
export const MAX_DIMENSIONS = 4_096;
const DIRECTIONS_PER_WORD = 4;
/** Each piece has a turn of the main thread. */
const PIECE_CHARACTERS = 16 * 1024;

/** The vectors of the texts, one after the other. */
export function unitVectors(texts: readonly string[], dimensions: number): Float32Array<ArrayBuffer> {
  const vectors = new Float32Array(texts.length * dimensions);
  for (const [index, text] of texts.entries()) vectors.set(unitVector(text, dimensions), index * dimensions);
  return vectors;
}

/** The answer to a request for embeddings, in pieces. */
export function* embeddingsEcho(
  vectors: Float32Array,
  options: {
    readonly dimensions: number;
    readonly isBase64: boolean;
    readonly model: unknown;
    readonly promptTokens: number;
  },
): Generator<string> {
  const { dimensions, isBase64, model, promptTokens } = options;
  let piece = '{"object":"list","data":[';
  for (let index = 0; index * dimensions < vectors.length; index += 1) {
    const vector = vectors.subarray(index * dimensions, (index + 1) * dimensions);
    const embedding = isBase64 ? base64Of(vector) : [...vector];
    piece += JSON.stringify({ object: 'embedding', index, embedding } satisfies JsonObject);
    if (piece.length > PIECE_CHARACTERS) {
      yield piece;
      piece = '';
    }
    if ((index + 1) * dimensions < vectors.length) piece += ',';
  }
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens };
  yield `${piece}],${JSON.stringify({ model, usage }).slice(1)}`;
}

/** A vector of length 1. */
export function unitVector(text: string, dimensions: number): Float32Array {
  const sums = new Float64Array(dimensions);
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu)) {
    let hash = fnv1a(word);
    for (let count = 0; count < DIRECTIONS_PER_WORD; count += 1) {
      hash = mixed(hash + count);
      const at = (hash >>> 1) % dimensions;
      sums[at] = (sums[at] ?? 0) + (hash % 2 === 0 ? 1 : -1);
    }
  }
  const length = Math.sqrt(sums.reduce((total, sum) => total + sum * sum, 0));
  // A text without a word, or whose words cancel each other out.
  if (length === 0) sums[0] = 1;
  return new Float32Array(length === 0 ? sums : sums.map((sum) => sum / length));
}

function base64Of(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [at, value] of vector.entries()) bytes.writeFloatLE(value, at * 4);
  return bytes.toString('base64');
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

function mixed(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x45d9f3b);
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return (hash ^ (hash >>> 16)) >>> 0;
}
