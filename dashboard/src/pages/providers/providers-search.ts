export interface ProvidersSearch {
  /** In the name of the provider or of a model. */
  readonly q?: string | undefined;
}

const MAX_LENGTH = 300;

export function validateProviders({ q }: Record<string, unknown>): ProvidersSearch {
  return typeof q === 'string' && q !== '' && q.length <= MAX_LENGTH ? { q } : {};
}
