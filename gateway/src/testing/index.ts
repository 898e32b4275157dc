export {
  chunk,
  completion,
  delta,
  json,
  type MockProvider,
  type Script,
  sse,
  startMockProvider,
} from './mock-provider.ts';
