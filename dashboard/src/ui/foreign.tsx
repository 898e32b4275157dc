import * as styles from './foreign.module.css';

/**
 * A string that others chose: a name, a model, an error. Its direction stays its own, and a long one is cut with the whole on
 * hover. Null, the name of a deleted key, is said in words.
 */
export function Foreign({
  text,
  none = 'deleted',
  isMono = false,
}: {
  text: string | null | undefined;
  none?: string;
  isMono?: boolean;
}) {
  if (text === null || text === undefined || text === '') return <span className={styles.none}>{none}</span>;
  return (
    <bdi className={styles.text} data-mono={isMono || undefined} title={text}>
      {text}
    </bdi>
  );
}
