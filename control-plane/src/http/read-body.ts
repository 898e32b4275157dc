import type { IncomingMessage } from 'node:http';
import {
  BODY_LIMIT_BYTES,
  badRequest,
  bodyTooLarge,
  invalid,
  type MemberRules,
  parseJson,
  unsupportedMediaType,
} from '@gatehouse/contract';

// A body beyond the limit is read and discarded up to this size, so that the sender reads the answer.
const DISCARD_LIMIT_BYTES = 1024 * 1024;

/** True if the headers announce a body. */
export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Reads a JSON body. Throws 415, 413 or 400 as an ApiError; the value may be of any JSON type.
 */
export async function readJsonBody(
  request: IncomingMessage,
  rules: MemberRules = { asWritten: new Set(), once: new Set() },
): Promise<unknown> {
  requireJson(request);
  const bytes = await readBytes(request);
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes), rules);
  } catch (error) {
    throw invalid([
      {
        loc: ['body'],
        msg: `The body is not valid ${error instanceof SyntaxError ? 'JSON' : 'UTF-8'}.`,
        type: 'json_invalid',
      },
    ]);
  }
}

function requireJson(request: IncomingMessage): void {
  // A form or plain text can be sent across sites without a preflight; JSON cannot.
  const [mediaType = '', ...parameters] = (request.headers['content-type'] ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  if (mediaType !== 'application/json' || parameters.some(isOtherCharset)) {
    throw unsupportedMediaType({
      loc: ['header', 'content-type'],
      msg: 'Must be application/json, in UTF-8.',
      type: 'media_type',
    });
  }
  const encoding = request.headers['content-encoding']?.trim().toLowerCase();
  if (encoding && encoding !== 'identity') {
    throw unsupportedMediaType({
      loc: ['header', 'content-encoding'],
      msg: 'A compressed body is not accepted; send it as it is.',
      type: 'content_encoding',
    });
  }
}

// JSON is UTF-8. A body in another charset would be misread.
function isOtherCharset(parameter: string): boolean {
  return parameter.startsWith('charset=') && !/^charset="?utf-?8"?$/.test(parameter);
}

function readBytes(request: IncomingMessage): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > DISCARD_LIMIT_BYTES)
    throw bodyTooLarge(BODY_LIMIT_BYTES);
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  // The caller left before the end of the body. The answer goes nowhere, but the handler must end.
  const cutShort = () => reject(badRequest('The body ended before it was complete.'));
  if (request.destroyed) cutShort();
  const chunks: Buffer[] = [];
  let length = 0;
  request.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length <= BODY_LIMIT_BYTES) chunks.push(chunk);
    if (length > DISCARD_LIMIT_BYTES) {
      request.pause();
      reject(bodyTooLarge(BODY_LIMIT_BYTES));
    }
  });
  request.on('end', () => {
    if (length > BODY_LIMIT_BYTES) reject(bodyTooLarge(BODY_LIMIT_BYTES));
    else resolve(Buffer.concat(chunks));
  });
  request.on('error', cutShort);
  request.on('close', cutShort);
  return promise;
}
