import type { GatewayKey } from '../catalogue/queries.ts';
import { modelNotAllowed } from '../http/gateway-error.ts';

/** 403 when the key is restricted to models and this is none of them, letter for letter. */
export function checkModel(key: GatewayKey, model: string): void {
  if (key.allowedModels !== null && !key.allowedModels.includes(model)) throw modelNotAllowed(model);
}
