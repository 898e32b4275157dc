import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { readableError } from '../api/errors.ts';
import { Button } from '../ui/button.tsx';
import * as styles from './page-error.module.css';

/** A page that could not be shown at all. Parts of a page show their own errors. */
export function PageError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const isOldVersion = /dynamically imported module|module script|Importing a module/i.test(String(error));
  const { sentence, requestId, detail } = readableError(error);
  const isException = detail !== undefined;
  return (
    <section className={styles.error} role="alert">
      <h1 className={styles.title}>{isOldVersion ? 'A new version is here' : 'This page cannot be shown'}</h1>
      <p className={styles.text}>
        {isOldVersion
          ? 'The service was updated since this page was opened. Reload it to continue.'
          : sentence}
      </p>
      {isException && !isOldVersion ? <code className={styles.detail}>{detail}</code> : undefined}
      {requestId === undefined ? undefined : (
        <p className={styles.text}>
          Request <code>{requestId}</code>
        </p>
      )}
      <div className={styles.actions}>
        <Button
          variant="primary"
          onPress={() => {
            if (isException) return location.reload();
            reset();
            void router.invalidate();
          }}
        >
          {isException ? 'Reload' : 'Try again'}
        </Button>
      </div>
    </section>
  );
}

export function NotFound() {
  return (
    <section className={styles.error}>
      <h1 className={styles.title}>There is no such page</h1>
      <p className={styles.text}>The address may be mistyped, or the page was moved.</p>
      <div className={styles.actions}>
        <Link to="/">To the overview</Link>
      </div>
    </section>
  );
}
