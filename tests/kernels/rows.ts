import { BLOCK_FORMATS } from '../../src/tensor/blocks.ts';
import { type Format, indices, normals, randomMatrix } from './inputs.ts';
import * as reference from './reference.ts';
import { exact, gapped, type KernelCase, kernelCase, type Layout, packed, type Tolerance } from './stage.ts';

/** Kernels that pick rows by index: embedding, its gradient, copies, logits of chosen tokens. */

const tolerance: Tolerance = { absolute: 1e-6, relative: 1e-6 };

function embedCase(rows: number, vocab: number, dim: number, format: Format, scale: number): KernelCase {
  const name = `embed ${format} ${rows} rows of ${vocab}x${dim} scale ${scale}`;
  return kernelCase(name, async (stage) => {
    const { source, values } = randomMatrix(name, vocab, dim, format);
    const ids = indices(name, rows, vocab);
    ids[0] = vocab - 1;
    const out = stage.output(rows, dim);
    stage.backend.embed({ out: out.array, table: stage.matrix(source), ids: stage.u32(ids), rows, scale });
    await stage.expect('out', out, dim, reference.embed(values, dim, ids, scale), tolerance);
  });
}

function embedBackwardCase(rows: number, vocab: number, dim: number, scale: number): KernelCase {
  const name = `embedBackward ${rows} rows into ${vocab}x${dim} scale ${scale}`;
  return kernelCase(name, async (stage) => {
    const ids = indices(name, rows, vocab);
    ids[0] = vocab - 1;
    const dOut = normals(`${name} dOut`, rows * dim);
    const before = normals(`${name} dTable`, vocab * dim);
    const wanted = reference.embedBackward(before, dOut, dim, ids, scale);
    const out = stage.output(vocab, dim, packed(dim), before);
    stage.backend.embedBackward({ dTable: out.array, dOut: stage.f32(dOut), ids: stage.u32(ids), rows, dim, vocab, scale });
    await stage.expect('dTable', out, dim, wanted, { absolute: 5e-5, relative: 1e-5 });
  });
}

function copyCase(rows: number, width: number, to: (width: number) => Layout, by: 'order' | 'toRows' | 'fromRows' | 'both'): KernelCase {
  const name = `copyRows ${rows}x${width} by ${by}${to === gapped ? ' into a strided view' : ''}`;
  return kernelCase(name, async (stage) => {
    const from = normals(name, (rows + 3) * width);
    // Targets are distinct: rows + 1 − r; sources may repeat.
    const toRows = by === 'toRows' || by === 'both' ? Uint32Array.from({ length: rows }, (_, r) => rows + 1 - r) : undefined;
    const fromRows = by === 'fromRows' || by === 'both' ? indices(name, rows, rows + 3) : undefined;
    const before = normals(`${name} before`, (rows + 2) * width);
    const wanted = Float32Array.from(before);
    for (let r = 0; r < rows; r++) {
      const source = fromRows ? fromRows[r]! : r;
      wanted.set(from.subarray(source * width, (source + 1) * width), (toRows ? toRows[r]! : r) * width);
    }
    const out = stage.output(rows + 2, width, to(width), before);
    stage.backend.copyRows({
      to: out,
      from: stage.rows(from, width, gapped(width)),
      rows,
      width,
      ...(toRows ? { toRows: stage.u32(toRows) } : {}),
      ...(fromRows ? { fromRows: stage.u32(fromRows) } : {}),
    });
    await stage.expect('to', out, width, wanted, exact);
  });
}

const copyWithinCase = kernelCase('copyRows between rows of one array', async (stage) => {
  const [rows, width] = [9, 7];
  const before = normals('within', 2 * rows * width);
  const out = stage.output(2 * rows, width, gapped(width), before);
  const wanted = Float32Array.from(before);
  wanted.copyWithin(rows * width, 0, rows * width);
  stage.backend.copyRows({ to: { ...out, offset: out.offset + rows * out.stride }, from: out, rows, width });
  await stage.expect('to', out, width, wanted, exact);
});

function layerLogitsCase(count: number, dim: number, vocab: number, format: Format): KernelCase {
  const name = `layerLogits ${format} ${count} of ${vocab}x${dim}`;
  return kernelCase(name, async (stage) => {
    const { source, values } = randomMatrix(name, vocab, dim, format, 1 / Math.sqrt(dim));
    const h = normals(`${name} h`, 20 * dim);
    const hRows = indices(`${name} rows`, count, 20);
    const tokens = indices(`${name} tokens`, count, vocab);
    tokens[0] = vocab - 1;
    const out = stage.output(1, count);
    stage.backend.layerLogits({
      out: out.array,
      h: stage.f32(h),
      hRows: stage.u32(hRows),
      tokens: stage.u32(tokens),
      w: stage.matrix(source),
      count,
    });
    const wanted = reference.layerLogits(h, hRows, values, tokens, dim);
    await stage.expect('out', out, count, wanted, { absolute: 2e-5, relative: 1e-5 });
  });
}

const formats = ['f32', 'f16', 'bf16', 'q4', ...BLOCK_FORMATS, 'stacked'] as const;

function unitCase(rows: number, width: number, layout: (width: number) => Layout, scale: number): KernelCase {
  const name = `l2Normalise ${rows}x${width} of size ${scale}${layout === gapped ? ' in strided views' : ''}`;
  return kernelCase(name, async (stage) => {
    const x = normals(name, rows * width, scale);
    if (rows > 2) x.fill(0, 2 * width, 3 * width);
    const out = stage.output(rows, width, layout(width));
    stage.backend.l2Normalise({ out, x: stage.rows(x, width, layout(width)), rows, width });
    await stage.expect('out', out, width, reference.l2Normalise(x, width), { absolute: 1e-6, relative: 2e-6 });
  });
}

export const rowCases: readonly KernelCase[] = [
  unitCase(1, 1, packed, 1),
  unitCase(7, 4, gapped, 1),
  unitCase(65, 18, packed, 1),
  unitCase(3, 300, gapped, 1),
  unitCase(5, 7, packed, 1e-25),
  unitCase(5, 64, packed, 1e30),
  embedCase(1, 1, 1, 'f32', 1),
  ...formats.map((format) => embedCase(13, 65, 65, format, 2)),
  embedCase(300, 7, 48, 'f32', 1),
  embedBackwardCase(1, 1, 1, 1),
  embedBackwardCase(13, 7, 65, 2),
  embedBackwardCase(300, 512, 48, 1),
  embedBackwardCase(300, 3, 7, 0.5),
  copyCase(1, 1, packed, 'order'),
  copyCase(7, 13, packed, 'toRows'),
  copyCase(13, 64, gapped, 'fromRows'),
  copyCase(300, 65, gapped, 'both'),
  copyCase(5, 300, packed, 'both'),
  copyWithinCase,
  layerLogitsCase(1, 1, 1, 'f32'),
  ...formats.map((format) => layerLogitsCase(13, 65, 70, format)),
  layerLogitsCase(300, 64, 512, 'f32'),
  layerLogitsCase(7, 300, 13, 'f32'),
];
