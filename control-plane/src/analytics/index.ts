import type { Implementation } from '../http/implement.ts';
import { getSummary } from './get-summary.ts';
import { listRequests } from './list-requests.ts';
import type { AnalyticsParts } from './parts.ts';

export function analyticsEndpoints(parts: AnalyticsParts): Implementation[] {
  return [getSummary(parts), listRequests(parts)];
}
