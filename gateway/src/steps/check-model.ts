import { modelNotAllowed } from '../http/gateway-error.ts';
import type { Context } from '../pipeline/context.ts';

/** 403 when the key is restricted to models and this is none of them, letter for letter. */
export function checkModel({ key, model }: Pick<Context, 'key' | 'model'>): void {
  if (key.allowedModels !== null && !key.allowedModels.includes(model)) throw modelNotAllowed(model);
}
