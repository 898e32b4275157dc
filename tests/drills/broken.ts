/** SQL that replaces text in a function of the schema, and fails when the text is not there. */
export function broken(name: string, text: string, by: string): string {
  return `DO $do$
  DECLARE
    definition text := pg_get_functiondef('${name}'::regproc);
  BEGIN
    ASSERT strpos(definition, $text$${text}$text$) > 0;
    EXECUTE replace(definition, $text$${text}$text$, $text$${by}$text$);
  END $do$`;
}
