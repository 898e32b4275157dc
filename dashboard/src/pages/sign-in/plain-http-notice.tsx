import { Notice } from '../../ui/notice.tsx';
import * as styles from './plain-http-notice.module.css';
import { tunnelCommand } from './tunnel-command.ts';

/** Before a password is typed: why a sign-in cannot work over plain HTTP under another name than localhost, and what does. */
export function PlainHttpNotice() {
  return (
    <Notice tone="warn">
      <div className={styles.text}>
        <p>
          <strong>You cannot stay signed in at this address.</strong> It is plain HTTP, and the session’s
          cookies are Secure: browsers keep them over HTTPS and on localhost only.
        </p>
        <p>
          Open the dashboard over HTTPS. Where the service has no certificate, open a tunnel from your
          machine:
        </p>
        <code className={styles.command}>{tunnelCommand(location)}</code>
        <p>
          Then go to <a href="http://localhost:8080">http://localhost:8080</a>. See “HTTPS and the session
          cookies” in docs/operations.md.
        </p>
      </div>
    </Notice>
  );
}
