export { FIXED_COSTS, REQUEST_COSTS } from './request-costs.ts';
export { sizeFor, USUAL_DEMAND } from './size.ts';
export { sizeRows } from './size-lines.ts';
