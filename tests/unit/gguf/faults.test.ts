import { describe, expect, it } from 'vitest';
import { readGguf } from '../../../src/transformer/gguf/read.ts';
import { bytesFile } from '../../../src/transformer/random-access.ts';
import { type FileParts, type FileTensor, f32Bytes, f32s, ggufFile, i32s, type MetaValue, text, texts, u32 } from '../../gguf/file.ts';
import { byteLevelVocabulary, modelParts } from '../../gguf/model.ts';
import { tinyConfig, tinyWeights } from '../../transformer/models.ts';

const { ropeScaling: _, ...config } = tinyConfig('llama', { hidden: 32, embedScale: 1, eosIds: [2], bosId: 1 });
const whole = modelParts(tinyWeights(config));

const withMetadata = (changes: Record<string, MetaValue>): FileParts => ({ ...whole, metadata: { ...whole.metadata, ...changes } });

function without(key: string): FileParts {
  const { [key]: _gone, ...metadata } = whole.metadata;
  return { ...whole, metadata };
}

const withTensor = (name: string, changes: Partial<FileTensor>): FileParts => ({
  ...whole,
  tensors: whole.tensors.map((tensor) => (tensor.name === name ? { ...tensor, ...changes } : tensor)),
});

const embed = 'token_embd.weight';
const tokens = (changes: (tokens: string[]) => void): FileParts => {
  const list = byteLevelVocabulary(config.vocab).tokens;
  changes(list);
  return withMetadata({ 'tokenizer.ggml.tokens': texts(list) });
};

const blocks = (type: number, bytes: number, at: number, half: number): FileParts => {
  const data = new Uint8Array(37 * bytes);
  data[5 * bytes + at] = half & 255;
  data[5 * bytes + at + 1] = half >> 8;
  return withTensor(embed, { type, bytes: data });
};

describe('a faulty GGUF file is refused with the fault named:', () => {
  it.each<[string, Uint8Array | FileParts, string, RegExp]>([
    ['another file', new TextEncoder().encode('<!doctype html>'.repeat(9)), 'not-gguf', /m\.gguf is not a GGUF file/],
    ['an empty file', new Uint8Array(), 'gguf-cut-off', /0 bytes end within the header/],
    ['wrong magic', { ...whole, magic: 'GGML' }, 'not-gguf', /"GGUF"/],
    ['version 1', { ...whole, version: 1 }, 'gguf-version', /version 1; versions 2 and 3 are read/],
    ['version 4', { ...whole, version: 4 }, 'gguf-version', /version 4/],
    ['big-endian', { ...whole, version: 3 << 24 }, 'gguf-version', /big-endian/],
    ['a header that ends early', ggufFile(whole).subarray(0, 900), 'gguf-cut-off', /900 bytes end within the header/],
    ['tensor data that ends early', ggufFile(whole).subarray(0, -40), 'gguf-cut-off', /tensor output\.weight ends at byte/],
    ['an absurd number of tensors', patched(8, 0xffff_ffff_ffff_ffffn), 'gguf-damaged', /number of tensors/],
    ['an absurd number of entries', patched(16, 2n ** 50n), 'gguf-damaged', /the length of/],
    ['an absurd length of a key', patched(24, 2n ** 40n), 'gguf-cut-off', /within the header/],
    ['an unaligned offset', withTensor('output_norm.weight', { offset: 33 }), 'gguf-damaged', /output_norm\.weight starts at offset 33/],
    ['an offset beyond the end', withTensor('output_norm.weight', { offset: 2 ** 40 }), 'gguf-cut-off', /output_norm\.weight/],
    ['a tensor twice', { ...whole, tensors: [...whole.tensors, whole.tensors[0]!] }, 'gguf-damaged', /token_embd\.weight stands twice/],
    ['a type that is not read', withTensor(embed, { type: 10 }), 'tensor-type', /token_embd\.weight is stored as Q2_K/],
    ['an unknown type', withTensor(embed, { type: 99 }), 'tensor-type', /number 99/],
    [
      'rows that are no whole blocks',
      withTensor('blk.0.ffn_down.weight', { type: 8 }),
      'gguf-damaged',
      /rows of 27, not a multiple of the 32/,
    ],
    ['experts', withTensor(embed, { shape: [32, 1, 37] }), 'gguf-unsupported', /experts/],
    ['no dimensions', withTensor(embed, { shape: [] }), 'gguf-damaged', /0 dimensions/],
    ['an empty tensor', withTensor(embed, { shape: [32, 0] }), 'gguf-damaged', /shape \[32, 0\]/],
    [
      'another shape',
      withTensor(embed, { shape: [37, 32] }),
      'tensor-shape',
      /token_embd\.weight has the shape 32 x 37, but the metadata ask for 37 x 32/,
    ],
    [
      'a missing tensor',
      { ...whole, tensors: whole.tensors.filter(({ name }) => name !== 'blk.1.ffn_up.weight') },
      'tensor-missing',
      /blk\.1\.ffn_up\.weight/,
    ],
    [
      'a tensor too many',
      {
        ...whole,
        tensors: [...whole.tensors, { name: 'blk.0.attn_output.bias', shape: [32], type: 0, bytes: f32Bytes(new Float32Array(32)) }],
      },
      'gguf-unsupported',
      /blk\.0\.attn_output\.bias/,
    ],
    [
      'a norm in blocks',
      withTensor('output_norm.weight', { type: 8, bytes: new Uint8Array(34) }),
      'tensor-type',
      /output_norm\.weight is a vector stored as Q8_0/,
    ],
    [
      'NaN',
      withTensor('output_norm.weight', { bytes: f32Bytes(Array.from({ length: 32 }, (_, i) => (i === 7 ? Number.NaN : 1))) }),
      'not-finite',
      /output_norm\.weight holds NaN or infinity at element 7/,
    ],
    [
      'infinity in F16',
      withTensor('output_norm.weight', {
        type: 1,
        bytes: new Uint8Array(Uint16Array.from({ length: 32 }, (_, i) => (i === 9 ? 0x7c00 : 0)).buffer),
      }),
      'not-finite',
      /element 9/,
    ],
    ['a scale of NaN in Q8_0', blocks(8, 34, 0, 0x7e00), 'not-finite', /token_embd\.weight .* element 160/],
    ['an infinite scale in Q4_0', blocks(2, 18, 0, 0xfc00), 'not-finite', /element 160/],
    ['an infinite least value in Q4_1', blocks(3, 20, 2, 0x7c00), 'not-finite', /element 160/],
    ['a scale beyond use in Q4_0', blocks(2, 18, 0, 0x7bff), 'beyond-float16', /65504 at element 160/],
    ['no architecture', without('general.architecture'), 'gguf-metadata', /general\.architecture is missing/],
    ['another architecture', withMetadata({ 'general.architecture': text('gemma3') }), 'unknown-model-type', /"gemma3"/],
    ['a missing size', without('llama.embedding_length'), 'gguf-metadata', /llama\.embedding_length is missing/],
    ['a missing epsilon', without('llama.attention.layer_norm_rms_epsilon'), 'gguf-metadata', /layer_norm_rms_epsilon is missing/],
    [
      'a size of zero',
      withMetadata({ 'llama.block_count': u32(0) }),
      'gguf-metadata',
      /llama\.block_count must be a whole number from 1, but is 0/,
    ],
    ['a size in words', withMetadata({ 'llama.block_count': text('three') }), 'gguf-metadata', /but is "three"/],
    [
      'heads that do not share',
      withMetadata({ 'llama.attention.head_count_kv': u32(4) }),
      'gguf-metadata',
      /4, which does not divide the 6 heads/,
    ],
    [
      'layers of several widths',
      withMetadata({ 'llama.feed_forward_length': i32s([27, 28]) }),
      'gguf-metadata',
      /differs from layer to layer/,
    ],
    [
      'rotary embedding of a part',
      withMetadata({ 'llama.rope.dimension_count': u32(4) }),
      'gguf-metadata',
      /rope\.dimension_count is 4, but heads have 6/,
    ],
    ['another rotary scaling', withMetadata({ 'llama.rope.scaling.type': text('yarn') }), 'gguf-unsupported', /"yarn"/],
    ['one part of several', withMetadata({ 'split.count': u32(3) }), 'gguf-unsupported', /one of 3 parts/],
    ['a mixture of experts', withMetadata({ 'llama.expert_count': u32(8) }), 'gguf-unsupported', /8 experts/],
    ['no vocabulary', without('tokenizer.ggml.tokens'), 'gguf-metadata', /tokenizer\.ggml\.tokens is missing/],
    ['no tokenizer', without('tokenizer.ggml.model'), 'gguf-metadata', /tokenizer\.ggml\.model is missing/],
    ['another tokenizer', withMetadata({ 'tokenizer.ggml.model': text('bert') }), 'unsupported-tokenizer', /"bert"/],
    [
      'another way to cut words',
      withMetadata({ 'tokenizer.ggml.pre': text('tekken') }),
      'unsupported-tokenizer',
      /tokenizer\.ggml\.pre is "tekken"/,
    ],
    ['a vocabulary of another size', tokens((list) => list.pop()), 'gguf-metadata', /token_type has 37 elements, but there are 36 tokens/],
    ['a token twice', tokens((list) => list.splice(36, 1, 'a')), 'gguf-metadata', /holds "a" twice, at 3 and 36/],
    ['no merges', without('tokenizer.ggml.merges'), 'gguf-metadata', /merges is missing/],
    ['a merge of three', withMetadata({ 'tokenizer.ggml.merges': texts(['t h', 'a b c']) }), 'gguf-metadata', /"a b c" at 1/],
    ['a merge that is no token', withMetadata({ 'tokenizer.ggml.merges': texts(['a b']) }), 'gguf-metadata', /"a b" at 0/],
    [
      'an end outside the vocabulary',
      withMetadata({ 'tokenizer.ggml.eos_token_id': u32(37) }),
      'gguf-metadata',
      /eos_token_id must be a token id below 37, but is 37/,
    ],
    [
      'scores that are not numbers',
      withMetadata({ 'tokenizer.ggml.model': text('llama'), 'tokenizer.ggml.scores': f32s(new Array(37).fill(Number.NaN)) }),
      'gguf-metadata',
      /scores must hold finite numbers/,
    ],
    ['a broken chat template', withMetadata({ 'tokenizer.chat_template': u32(3) }), 'gguf-metadata', /chat_template must be a text/],
  ])('%s', async (_, file, code, message) => {
    const bytes = file instanceof Uint8Array ? file : ggufFile(file);
    await expect(readGguf(bytesFile('m.gguf', bytes))).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
      hint: expect.stringMatching(/\w/),
    });
  });

  it('lists the types it reads where it meets another', async () => {
    const bytes = ggufFile(withTensor(embed, { type: 13 }));
    await expect(readGguf(bytesFile('m.gguf', bytes))).rejects.toMatchObject({
      hint: expect.stringContaining('F32, F16, BF16, Q4_0, Q4_1, Q8_0, Q4_K, Q6_K'),
    });
  });

  it('any cut of the file', async () => {
    const bytes = ggufFile(whole);
    for (let length = 0; length < bytes.length - 32; length += Math.ceil(bytes.length / 150)) {
      const cut = readGguf(bytesFile('m.gguf', bytes.subarray(0, length)));
      await expect(cut).rejects.toMatchObject({ code: 'gguf-cut-off' });
    }
  });
});

/** The whole file with one 64-bit number changed. */
function patched(at: number, value: bigint): Uint8Array {
  const bytes = ggufFile(whole);
  new DataView(bytes.buffer).setBigUint64(at, value, true);
  return bytes;
}
