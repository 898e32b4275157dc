// The package has types for its front door only.
declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';

  export = Pool;
}

declare module 'undici/lib/core/connect.js' {
  import { buildConnector } from 'undici';

  export = buildConnector;
}
