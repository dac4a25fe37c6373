/**
 * Weights in GGML's blocks (Q8_0, Q4_1, Q4_K, Q6_K), laid out for products. The blocks of 8 rows n of the
 * matrix [n, k] are interleaved into a panel, so that one load brings the same position of 8 columns of the product; the
 * scales stay in the 16, 8 or 6 bits of the file, and a panel takes the bytes of the file or a few more. A panel is a
 * row of blocks, the last one filled up with zeros; within a block (8 columns are 0 to 7, h is float16):
 *   Q8_0   32 positions: h scale[8]; 32 × i8 code[8]                                     weight = scale·code
 *   Q4_1   32 positions: h scale[8], h least[8]; 32 × word, column c in bits 4c…          weight = scale·code + least
 *   Q4_K   256 positions: h scale[8], h least[8]; 8 × (u8 factor[8], u8 shift[8]; 32 × word)
 *                                                              weight = scale·factor·code − least·shift
 *   Q6_K   256 positions: h scale[8]; 16 × (i8 factor[8]; 8 × (word, word, word))        weight = scale·factor·(code − 32)
 *          the three words: low nibbles of position 2i, of 2i + 1, and in nibble c the upper two bits of both
 */
export const Q8_0 = 4;
export const Q4_1 = 5;
export const Q4_K = 6;
export const Q6_K = 7;

export function isBlocks(format: i32): bool {
  return format >= Q8_0;
}

export function blockLength(format: i32): i32 {
  return format >= Q4_K ? 256 : 32;
}

/** Bytes of one row's block as it is handed over: GGML's, filled up to whole words (Q8_0 by 2 bytes, Q6_K by 2). */
function sourceBytes(format: i32): usize {
  if (format === Q8_0) return 36;
  if (format === Q4_1) return 20;
  return format === Q4_K ? 144 : 212;
}

export function panelBlockBytes(format: i32): usize {
  if (format === Q8_0) return 272;
  if (format === Q4_1) return 160;
  return format === Q4_K ? 1184 : 1680;
}

export function blockPanelBytes(format: i32, k: i32): usize {
  const length = blockLength(format);
  return <usize>((k + length - 1) / length) * panelBlockBytes(format);
}

/** Blocks of n rows → panels; missing rows are zero. */
export function packBlocks(panels: usize, blocks: usize, format: i32, n: i32, k: i32): void {
  const length = blockLength(format);
  const count = (k + length - 1) / length;
  const bytes = sourceBytes(format);
  const rowBytes = <usize>count * bytes;
  for (let first = 0; first < n; first += 8) {
    for (let b = 0; b < count; b++) {
      memory.fill(panels, 0, panelBlockBytes(format));
      for (let c = 0; c < min(8, n - first); c++) {
        const block = blocks + <usize>(first + c) * rowBytes + <usize>b * bytes;
        if (format === Q8_0) packQ80(panels, block, c);
        else if (format === Q4_1) packQ41(panels, block, c);
        else if (format === Q4_K) packQ4K(panels, block, c);
        else packQ6K(panels, block, c);
      }
      panels += panelBlockBytes(format);
    }
  }
}

function packQ80(panel: usize, block: usize, c: usize): void {
  store<u16>(panel + (c << 1), load<u16>(block));
  for (let i: usize = 0; i < 32; i++) store<u8>(panel + 16 + (i << 3) + c, load<u8>(block + 2 + i));
}

/** Puts a nibble at column c of position i. */
function addNibble(words: usize, i: usize, c: usize, nibble: u32): void {
  const at = words + (i << 2);
  store<u32>(at, load<u32>(at) | (nibble << ((<u32>c) << 2)));
}

/** In the file the low nibbles are the first half of the run and the high ones the second. */
function packQ41(panel: usize, block: usize, c: usize): void {
  store<u16>(panel + (c << 1), load<u16>(block));
  store<u16>(panel + 16 + (c << 1), load<u16>(block + 2));
  for (let i: usize = 0; i < 16; i++) {
    const byte: u32 = load<u8>(block + 4 + i);
    addNibble(panel + 32, i, c, byte & 15);
    addNibble(panel + 32, i + 16, c, byte >> 4);
  }
}

/** The eight 6-bit factors and shifts share 12 bytes: four of each whole, the others' upper bits in the spare ones. */
function packQ4K(panel: usize, block: usize, c: usize): void {
  store<u16>(panel + (c << 1), load<u16>(block));
  store<u16>(panel + 16 + (c << 1), load<u16>(block + 2));
  const packed = block + 4;
  for (let g: usize = 0; g < 8; g++) {
    const run = panel + 32 + g * 144;
    let factor: u32 = 0;
    let shift: u32 = 0;
    if (g < 4) {
      factor = load<u8>(packed + g) & 63;
      shift = load<u8>(packed + g + 4) & 63;
    } else {
      const low: u32 = load<u8>(packed + g + 4);
      factor = (low & 15) | ((<u32>load<u8>(packed + g - 4) >> 6) << 4);
      shift = (low >> 4) | ((<u32>load<u8>(packed + g) >> 6) << 4);
    }
    store<u8>(run + c, factor);
    store<u8>(run + 8 + c, shift);
    const bytes = block + 16 + ((g >> 1) << 5);
    const lift: u32 = (<u32>g & 1) << 2;
    for (let i: usize = 0; i < 32; i++) addNibble(run + 16, i, c, (<u32>load<u8>(bytes + i) >> lift) & 15);
  }
}

/** Halves of 128 positions, each four runs of 32 that share bytes: ql 64 a half, qh 32 a half, 8 factors a half, then the scale. */
function packQ6K(panel: usize, block: usize, c: usize): void {
  store<u16>(panel + (c << 1), load<u16>(block + 208));
  for (let i: usize = 0; i < 256; i++) {
    const half = i >> 7;
    const run = (i >> 5) & 3;
    const at = i & 31;
    const low = (<u32>load<u8>(block + (half << 6) + ((run & 1) << 5) + at) >> ((<u32>(run >> 1)) << 2)) & 15;
    const high = (<u32>load<u8>(block + 128 + (half << 5) + at) >> ((<u32>run) << 1)) & 3;
    const group = panel + 16 + (i >> 4) * 104;
    if ((i & 15) === 0) store<u8>(group + c, load<u8>(block + 192 + (i >> 4)));
    const trio = group + 8 + ((i & 15) >> 1) * 12;
    addNibble(trio, i & 1, c, low);
    addNibble(trio, 2, c, high << ((<u32>(i & 1)) << 1));
  }
}
