/** The requests of a key or a model in the last 30 days. */
export function requestsOf(search: { readonly key?: string; readonly model?: string }) {
  return { to: '/requests', search: { range: '30d', ...search } } as const;
}
