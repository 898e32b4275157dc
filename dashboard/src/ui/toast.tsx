import { CheckCircledIcon, Cross2Icon, CrossCircledIcon } from '@radix-ui/react-icons';
import { useSyncExternalStore } from 'react';
import { IconButton } from './button.tsx';
import * as styles from './toast.module.css';

interface ToastEntry {
  readonly id: number;
  readonly text: string;
  readonly tone: 'good' | 'bad';
}

const VISIBLE_MS = 6000;
const MOST = 4;

let entries: readonly ToastEntry[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function update(next: readonly ToastEntry[]): void {
  entries = next;
  for (const listener of listeners) listener();
}

/** Says that something was done. What failed stays where it failed, as an `ErrorNotice`. */
export function toast(text: string, tone: ToastEntry['tone'] = 'good'): void {
  lastId += 1;
  const id = lastId;
  update([...entries, { id, text, tone }].slice(-MOST));
  setTimeout(() => update(entries.filter((entry) => entry.id !== id)), VISIBLE_MS);
}

/** The messages of the page, read out by screen readers as they come. */
export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => entries,
  );
  return (
    <section className={styles.region} role="status" aria-live="polite" aria-label="Messages">
      {shown.map(({ id, text, tone }) => (
        <div key={id} className={styles.toast} data-tone={tone}>
          {tone === 'good' ? (
            <CheckCircledIcon aria-hidden="true" />
          ) : (
            <CrossCircledIcon aria-hidden="true" />
          )}
          <bdi className={styles.text}>{text}</bdi>
          <IconButton
            icon={<Cross2Icon />}
            label="Dismiss"
            size="s"
            onPress={() => update(entries.filter((entry) => entry.id !== id))}
          />
        </div>
      ))}
    </section>
  );
}
