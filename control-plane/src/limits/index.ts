import type { Database } from '@gatehouse/store';
import type { Implementation } from '../http/implement.ts';
import { createSpendLimit } from './create-spend-limit.ts';
import { deleteSpendLimit } from './delete-spend-limit.ts';
import { listSpendLimits } from './list-spend-limits.ts';
import { updateSpendLimit } from './update-spend-limit.ts';

export { sweepEndedWindows } from './sweep.ts';

export function limitEndpoints(database: Database): Implementation[] {
  return [
    listSpendLimits(database),
    createSpendLimit(database),
    updateSpendLimit(database),
    deleteSpendLimit(database),
  ];
}
