/**
 * Errors as a ClickHouse server writes them over HTTP: `Code: 62. DB::Exception: ... (SYNTAX_ERROR)`. The client parses
 * that text into its ClickHouseError, so errors of the process around the engine have the same form and ClickHouse's
 * codes.
 */
export class EngineException extends Error {
  readonly code: number;

  constructor(code: number, name: string, sentence: string) {
    super(`Code: ${code}. DB::Exception: ${sentence} (${name})`);
    this.code = code;
  }
}

export const exceptions = {
  syntax: (sentence: string) => new EngineException(62, 'SYNTAX_ERROR', sentence),
  notImplemented: (sentence: string) => new EngineException(48, 'NOT_IMPLEMENTED', sentence),
  badArguments: (sentence: string) => new EngineException(36, 'BAD_ARGUMENTS', sentence),
  badRows: (sentence: string) => new EngineException(117, 'INCORRECT_DATA', sentence),
  readonly: (sentence: string) => new EngineException(164, 'READONLY', sentence),
  tooLarge: (sentence: string) => new EngineException(223, 'QUERY_IS_TOO_LARGE', sentence),
  tooBusy: (sentence: string) => new EngineException(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', sentence),
  cancelled: () => new EngineException(394, 'QUERY_WAS_CANCELLED', 'The client disconnected.'),
  stopping: () => new EngineException(236, 'ABORTED', 'The engine is stopping.'),
};

/** Turns what the engine threw into an EngineException. Messages of the engine already have the form. */
export function toEngineException(error: unknown): EngineException {
  if (error instanceof EngineException) return error;
  if (error instanceof RangeError) return exceptions.badArguments(`${error.message}.`);
  const message = error instanceof Error ? error.message : String(error);
  const code = /Code: (\d+)\. DB::Exception: /.exec(message)?.[1];
  if (code === undefined) return new EngineException(1002, 'UNKNOWN_EXCEPTION', `${message}.`);
  const exception = new EngineException(Number(code), '', '');
  exception.message = message;
  return exception;
}

const NOT_FOUND = new Set([46, 47, 50, 56, 60, 81, 115]);
const BAD_REQUEST = new Set([6, 26, 27, 36, 38, 41, 53, 62, 69, 70, 72, 117, 130, 131, 441, 456, 457]);

/** The HTTP status that a ClickHouse server gives for a code; 500 by default. */
export function httpStatusOf(code: number): number {
  if (NOT_FOUND.has(code)) return 404;
  if (BAD_REQUEST.has(code)) return 400;
  if (code === 159) return 408;
  if (code === 164) return 403;
  if (code === 223) return 413;
  if (code === 48) return 501;
  if (code === 202 || code === 236) return 503;
  return 500;
}
