import { CopyButton } from './copy-button.tsx';
import * as styles from './secret-text.module.css';

/** A secret that is shown once, to be copied. `what`: "key". */
export function SecretText({ what, text }: { what: string; text: string }) {
  return (
    <section className={styles.secret} aria-label={`The ${what}`}>
      <code className={styles.secretText}>{text}</code>
      <CopyButton text={text} label={`Copy the ${what}`} variant="primary" size="m">
        Copy
      </CopyButton>
    </section>
  );
}
