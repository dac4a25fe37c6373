import { NacreError } from '../core/errors.ts';

/** Files out of the page, and tables as text. */

/** Hands bytes to the browser as a download. */
export function saveFile(name: string, mime: string, content: Uint8Array | string | Blob): void {
  const blob = content instanceof Blob ? content : new Blob([content as BlobPart], { type: mime });
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken the URL by the next task; revoking it at once cancels the download in some.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Puts text on the clipboard. @throws {NacreError} `clipboard-refused` where the browser does not allow it. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch (cause) {
    throw new NacreError(
      'clipboard-refused',
      'The browser did not let the page use the clipboard.',
      'Allow it for this site (it needs https or localhost), or save the file instead.',
      { cause },
    );
  }
}

export type Cell = string | number | null;

/** RFC 4180, with a leading apostrophe where a spreadsheet would run the cell as a formula. */
export function toCsv(rows: readonly (readonly Cell[])[]): string {
  return `${rows.map((row) => row.map(csvCell).join(',')).join('\r\n')}\r\n`;
}

/** Tab-separated, for pasting into a spreadsheet; tabs and line ends inside cells become spaces. */
export function toTsv(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => row.map((cell) => guard(cell).replace(/[\t\r\n]+/g, ' ')).join('\t')).join('\n');
}

function csvCell(cell: Cell): string {
  const text = guard(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function guard(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  return /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
}
