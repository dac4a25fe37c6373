/** A place in a grid whose rows may have different lengths. */
export interface Place {
  readonly row: number;
  readonly column: number;
}

/**
 * Where a key moves to from `at`, or undefined when the key does not move. Left and right stay in the row, Home and End go to
 * its ends (with Ctrl to the grid's), Page keys go ten rows.
 */
export function moveInGrid(lengths: readonly number[], at: Place, key: string, ctrl: boolean): Place | undefined {
  const lastRow = lengths.length - 1;
  if (lastRow < 0) return undefined;
  const place = (row: number, column: number): Place => {
    const clampedRow = Math.min(lastRow, Math.max(0, row));
    return { row: clampedRow, column: Math.min((lengths[clampedRow] ?? 1) - 1, Math.max(0, column)) };
  };
  switch (key) {
    case 'ArrowLeft':
      return place(at.row, at.column - 1);
    case 'ArrowRight':
      return place(at.row, at.column + 1);
    case 'ArrowUp':
      return place(at.row - 1, at.column);
    case 'ArrowDown':
      return place(at.row + 1, at.column);
    case 'PageUp':
      return place(at.row - 10, at.column);
    case 'PageDown':
      return place(at.row + 10, at.column);
    case 'Home':
      return ctrl ? place(0, 0) : place(at.row, 0);
    case 'End':
      return ctrl ? place(lastRow, Number.POSITIVE_INFINITY) : place(at.row, Number.POSITIVE_INFINITY);
    default:
      return undefined;
  }
}
