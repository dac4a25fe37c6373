/** The formats of packed panels (packed.ts tells their layouts) and what a panel of each takes. */
import { blockPanelBytes, isBlocks } from './block-panels';

export const F32 = 0;
export const F16 = 1;
export const BF16 = 2;
/** What is neither these nor blocks is q4. */

export function panelBytes(format: i32, k: i32): usize {
  if (isBlocks(format)) return blockPanelBytes(format, k);
  if (format === F32) return (<usize>k) << 5;
  return format === F16 || format === BF16 ? (<usize>k) << 4 : (<usize>k) << 2;
}

/** Of q4; other formats have none apart, and nothing is read there. */
export function scaleBytes(k: i32): usize {
  return (<usize>((k + 31) >> 5)) << 5;
}
