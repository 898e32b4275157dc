export { getService } from './get-service.ts';
