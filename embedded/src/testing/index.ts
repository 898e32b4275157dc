export {
  isRunning,
  openTestEngine,
  removeDirectory,
  type TestEngine,
  type TestEngineDatabase,
  waitFor,
} from './test-engine.ts';
