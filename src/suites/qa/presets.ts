import type { ImportOptions } from '../import/import.ts';
import type { SplitParts } from '../import/mapping.ts';
import type { ImportedSuite } from '../import/suite-file.ts';
import type { Table } from '../import/table.ts';
import { importPassages, isPassageTable } from './passages.ts';
import { importWordProblems, isWordProblemTable } from './word-problems.ts';

export interface PresetOptions extends Partial<ImportOptions> {
  readonly split?: { readonly seed?: number; readonly parts?: SplitParts };
}

/** A well-known form of data that needs no mapping. */
export interface Preset {
  readonly id: 'passages' | 'word-problems';
  readonly title: string;
  /** Whether a table looks like it. */
  matches(table: Table): boolean;
  read(file: string, content: string | Uint8Array, options?: PresetOptions): ImportedSuite;
}

export const PRESETS: readonly Preset[] = [
  { id: 'passages', title: 'Reading questions over passages (HotpotQA)', matches: isPassageTable, read: importPassages },
  { id: 'word-problems', title: 'Arithmetic word problems (GSM8K)', matches: isWordProblemTable, read: importWordProblems },
];
