import { CrossCircledIcon } from '@radix-ui/react-icons';
import { readableError } from '../api/errors.ts';
import { Button } from './button.tsx';
import * as styles from './notice.module.css';

/** An error as a sentence, with the request id and, where it makes sense, another try. */
export function ErrorNotice({ error, onRetry }: { error: unknown; onRetry?: (() => unknown) | undefined }) {
  const { sentence, requestId, detail } = readableError(error);
  return (
    <div className={styles.notice} data-tone="bad" role="alert">
      <CrossCircledIcon aria-hidden="true" />
      <div className={styles.body}>
        <p>{sentence}</p>
        {requestId === undefined ? undefined : (
          <p className={styles.detail}>
            Request <code>{requestId}</code>
          </p>
        )}
        {detail === undefined ? undefined : <code className={styles.detail}>{detail}</code>}
      </div>
      {onRetry === undefined ? undefined : (
        <Button size="s" onPress={() => void onRetry()}>
          Try again
        </Button>
      )}
    </div>
  );
}
