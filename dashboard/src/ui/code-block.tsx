import * as styles from './code-block.module.css';
import { CopyButton } from './copy-button.tsx';

/** Commands or code to copy. It scrolls within itself. */
export function CodeBlock({ text, label }: { text: string; label: string }) {
  return (
    <div className={styles.block}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by the keyboard */}
      <section className={styles.code} aria-label={label} tabIndex={0}>
        <pre>
          <code>{text}</code>
        </pre>
      </section>
      <span className={styles.copy}>
        <CopyButton text={text} label={`Copy ${label}`} />
      </span>
    </div>
  );
}
