import { modelNotAllowed } from '../http/gateway-error.ts';
import type { Context } from '../pipeline/context.ts';

/** 403 when the key is restricted to routes and the one that the model leads to is none of them, letter for letter. */
export function checkModel({ key, model, route }: Pick<Context, 'key' | 'model' | 'route'>): void {
  if (key.allowedModels !== null && !key.allowedModels.includes(route.id)) throw modelNotAllowed(model);
}
