/** SQL that puts other text into a function of the schema, and fails where there is nothing to replace. */
export function broken(name: string, text: string, by: string): string {
  return `DO $do$
  DECLARE
    definition text := pg_get_functiondef('${name}'::regproc);
  BEGIN
    ASSERT strpos(definition, $text$${text}$text$) > 0;
    EXECUTE replace(definition, $text$${text}$text$, $text$${by}$text$);
  END $do$`;
}
