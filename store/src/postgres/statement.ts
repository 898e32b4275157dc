/** A named SQL text. The name makes PostgreSQL prepare it once per connection; it must be unique per text. */
export interface Statement<Row> {
  readonly name: string;
  readonly text: string;
  /** Carries the type of a result row; never present at run time. */
  readonly row?: Row;
}

export function statement<Row = never>(name: string, text: string): Statement<Row> {
  return { name, text };
}
