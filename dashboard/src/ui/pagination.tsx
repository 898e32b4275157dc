import { ChevronLeftIcon, ChevronRightIcon } from '@radix-ui/react-icons';
import { count } from '../format/number.ts';
import { IconButton } from './button.tsx';
import * as styles from './pagination.module.css';

export interface PaginationProps {
  readonly offset: number;
  readonly limit: number;
  /** Rows on this page. */
  readonly shown: number;
  /** All rows that match, as the API counts them; undefined where it does not. A page shorter than `limit` is then the last. */
  readonly total?: number | undefined;
  readonly onOffset: (offset: number) => void;
}

/** `51–100 of 1,234`, and the pages beside it. */
export function Pagination({ offset, limit, shown, total, onOffset }: PaginationProps) {
  const hasNext = total === undefined ? shown >= limit : offset + shown < total;
  const rows = shown === 0 ? '0' : `${count(offset + 1)}–${count(offset + shown)}`;
  return (
    <nav className={styles.pagination} aria-label="Pages of the table">
      <span className={styles.rows} aria-live="polite">
        {rows}
        {total === undefined ? '' : ` of ${count(total)}`}
      </span>
      <IconButton
        icon={<ChevronLeftIcon />}
        label="Previous page"
        size="s"
        isDisabled={offset === 0}
        onPress={() => onOffset(Math.max(0, offset - limit))}
      />
      <IconButton
        icon={<ChevronRightIcon />}
        label="Next page"
        size="s"
        isDisabled={!hasNext}
        onPress={() => onOffset(offset + limit)}
      />
    </nav>
  );
}
