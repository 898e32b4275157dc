import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const brotli = promisify(brotliCompress);
const deflate = promisify(gzip);

const TEXT = /\.(html|js|css|svg|txt|map)$/;

/** A file and, where it is text, its compressed variants beside it. Fonts and images are compressed already. */
export async function withVariants(
  path: string,
  content: Uint8Array,
  isForDevelopment: boolean,
): Promise<[string, Uint8Array][]> {
  if (isForDevelopment || !TEXT.test(path)) return [[path, content]];
  const [br, gz] = await Promise.all([
    brotli(content, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
      },
    }),
    deflate(content, { level: constants.Z_BEST_COMPRESSION }),
  ]);
  return [
    [path, content],
    [`${path}.br`, br],
    [`${path}.gz`, gz],
  ];
}
