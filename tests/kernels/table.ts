import { attentionCases } from './attention.ts';
import { elementwiseCases } from './elementwise.ts';
import { linearCases } from './linear.ts';
import { rowCases } from './rows.ts';
import type { KernelCase } from './stage.ts';
import { trainingCases } from './training.ts';

export type { KernelCase } from './stage.ts';

/** Every operation of the Backend on awkward sizes, layouts and values. Both backends must pass all of it. */
export const kernelCases: readonly KernelCase[] = [...linearCases, ...attentionCases, ...elementwiseCases, ...rowCases, ...trainingCases];
