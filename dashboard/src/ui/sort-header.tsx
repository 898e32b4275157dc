import * as styles from './data-table.module.css';

export interface TableSort {
  readonly column: string;
  readonly direction: 'ascending' | 'descending';
}

export interface SortHeaderProps {
  readonly id: string;
  readonly text: string;
  readonly align: 'start' | 'end' | undefined;
  readonly hideBelow: 'm' | 'l' | undefined;
  readonly sort: TableSort | undefined;
  readonly onSort: ((sort: TableSort) => void) | undefined;
}

/** The head of a column; a button where the table can be sorted by it. */
export function SortHeader({ id, text, align, hideBelow, sort, onSort }: SortHeaderProps) {
  const direction = sort?.column === id ? sort.direction : undefined;
  return (
    <th
      scope="col"
      className={styles.headCell}
      data-align={align}
      data-hide-below={hideBelow}
      aria-sort={onSort === undefined ? undefined : (direction ?? 'none')}
    >
      {onSort === undefined ? (
        text
      ) : (
        <button
          type="button"
          className={styles.sort}
          onClick={() =>
            onSort({ column: id, direction: direction === 'descending' ? 'ascending' : 'descending' })
          }
        >
          {text}
          <span aria-hidden="true">
            {direction === undefined ? '' : direction === 'ascending' ? '↑' : '↓'}
          </span>
        </button>
      )}
    </th>
  );
}
