import { type MouseEvent, memo } from 'react';
import * as styles from './data-table.module.css';
import type { Column } from './data-table.tsx';

export interface DataTableRowProps<Row> {
  readonly row: Row;
  readonly index: number;
  readonly columns: readonly Column<Row>[];
  /** The id of the column that titles the card of a phone. */
  readonly title: string | undefined;
  readonly isOpen: boolean;
  readonly onOpen: ((row: Row) => void) | undefined;
  readonly measure: ((element: Element | null) => void) | undefined;
}

function PlainRow<Row>({ row, index, columns, title, isOpen, onOpen, measure }: DataTableRowProps<Row>) {
  const open = onOpen === undefined ? undefined : () => onOpen(row);
  return (
    // biome-ignore-start lint/a11y: a row that opens is focusable, and Enter opens it; its cells keep their links and buttons
    <tr
      ref={measure}
      role="row"
      className={styles.row}
      data-index={index}
      aria-rowindex={index + 2}
      data-opens={open !== undefined || undefined}
      data-open={isOpen || undefined}
      tabIndex={open === undefined ? undefined : 0}
      onClick={(event) => {
        if (!isOwnControl(event)) open?.();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || event.target !== event.currentTarget) return;
        event.preventDefault();
        open?.();
      }}
    >
      {columns.map(({ id, header, cell, align, hideBelow }) => (
        <td
          key={id}
          role="cell"
          className={styles.cell}
          data-align={align}
          data-hide-below={hideBelow}
          data-title={id === title || undefined}
          data-label={header}
        >
          {cell(row)}
        </td>
      ))}
    </tr>
    // biome-ignore-end lint/a11y: see above
  );
}

/** While a table scrolls, its rows stay the same, and only the new ones are made. */
export const DataTableRow = memo(PlainRow) as typeof PlainRow;

/** A click on a link or button of the row is for it, and a drag over text selects the text. */
function isOwnControl(event: MouseEvent): boolean {
  const isControl =
    (event.target as Element).closest('a, button, input, label, [role=button], [role=dialog]') !== null;
  return isControl || (getSelection()?.toString() ?? '') !== '';
}
