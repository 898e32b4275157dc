import type { CallOptions } from './call.ts';
import type { Inputs, Replies } from './generated/index.ts';

/** The lists that are read page by page, and the field with the rows. */
const LISTS = {
  listActivity: 'events',
  listSessions: 'sessions',
  listAlertDeliveries: 'deliveries',
} as const;

/** A list that can be iterated. The request log has a way of its own, `iterateRequests`, which is one request. */
export type ListName = keyof typeof LISTS;

/** The filters of a list. It is read to its end, so it takes no page. */
export type ListInput<Name extends ListName> = Omit<Inputs[Name], 'limit' | 'offset'>;

/** A row of a list. */
export type ListRow<Name extends ListName> = Replies[Name] extends {
  readonly [field in (typeof LISTS)[Name]]: readonly (infer Row)[];
}
  ? Row
  : never;

const MAX_PAGE = 200;

type ReadPage = (input: object, options: CallOptions) => Promise<unknown>;

/** The rows of a list, page by page. Activity that is recorded meanwhile is left out, so that no row comes twice. */
export async function* rowsOfPages<Name extends ListName>(
  name: Name,
  read: ReadPage,
  input: object,
  options: CallOptions,
): AsyncGenerator<ListRow<Name>, void> {
  let until: string | undefined;
  for (let offset = 0; ; offset += MAX_PAGE) {
    const pinned = name === 'listActivity' && until !== undefined ? { until } : {};
    const page = await read({ ...pinned, ...input, limit: MAX_PAGE, offset }, options);
    const rows = (page as Readonly<Record<string, readonly object[]>>)[LISTS[name]] ?? [];
    until ??= (rows[0] as { readonly timestamp?: string } | undefined)?.timestamp;
    yield* rows as readonly ListRow<Name>[];
    if (rows.length < MAX_PAGE) return;
  }
}
