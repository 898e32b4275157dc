// ClickHouse's codes for values that it cannot read or that break the table's rules. All others are about the server
// (memory, parts, network, rights, a missing column) and may not occur in a minute.
const CODES = new Set([
  '6', // CANNOT_PARSE_TEXT
  '25', // CANNOT_PARSE_ESCAPE_SEQUENCE
  '26', // CANNOT_PARSE_QUOTED_STRING
  '27', // CANNOT_PARSE_INPUT_ASSERTION_FAILED
  '38', // CANNOT_PARSE_DATE
  '41', // CANNOT_PARSE_DATETIME
  '53', // TYPE_MISMATCH
  '69', // ARGUMENT_OUT_OF_BOUND
  '70', // CANNOT_CONVERT_TYPE
  '72', // CANNOT_PARSE_NUMBER
  '117', // INCORRECT_DATA
  '131', // TOO_LARGE_STRING_SIZE
  '321', // VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE
  '349', // CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
  '376', // CANNOT_PARSE_UUID
  '407', // DECIMAL_OVERFLOW
  '469', // VIOLATED_CONSTRAINT
  '691', // UNKNOWN_ELEMENT_OF_ENUM
]);

/** True if telemetry rejected rows for their content: by a code of ClickHouse, or by a check before they were sent. */
export function isRowRejection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof TypeError || error instanceof RangeError) return true;
  if ('code' in error && CODES.has(String(error.code))) return true;
  return isRowRejection(error.cause);
}
