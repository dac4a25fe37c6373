import { md5 } from 'js-md5';
import { describe, expect, it } from 'vitest';
import { NacreError } from '../../../src/core/errors.ts';
import { type FileSource, memorySource } from '../../../src/transformer/file-source.ts';
import { ARCHITECTURES, QUANTISATIONS } from '../../../src/transformer/mlc/config.ts';
import { readMlc } from '../../../src/transformer/mlc/read.ts';
import { mlcFiles } from '../../../src/transformer/mlc/write.ts';
import { flatten, randomWeights, tinyConfig } from './random-weights.ts';

const tokenizerJson = '{"model":{"type":"BPE","vocab":{"a":0},"merges":[]}}';

function folder(files: ReadonlyMap<string, Uint8Array>): FileSource {
  return memorySource('the folder', files);
}

describe.each(ARCHITECTURES)('an MLC folder of a %s', (architecture) => {
  it.each(QUANTISATIONS)('survives writing and reading as %s', async (quantisation) => {
    const weights = randomWeights(architecture);
    const files = mlcFiles(weights, { quantisation, tokenizerJson, shardBytes: 5000 });
    const { weights: back, chat, bytes } = await readMlc(folder(files));
    expect(back.config).toEqual(weights.config);
    expect(chat.quantisation).toBe(quantisation);
    const shards = [...files].filter(([path]) => path.endsWith('.bin'));
    expect(shards.length).toBeGreaterThan(2);
    expect(bytes).toBe(shards.reduce((sum, [, data]) => sum + data.length, 0));
    const expected = flatten(weights);
    for (const [name, values] of flatten(back)) {
      const original = expected.get(name) as Float32Array;
      expect(values.length).toBe(original.length);
      const largest = original.reduce((top, x) => Math.max(top, Math.abs(x)), 0);
      // Half a code of the coarsest group for int4 matrices; half a unit in the last place for floats.
      const coarse = quantisation.startsWith('q4') && !name.includes('norm') && !name.endsWith('bias');
      const bound = coarse
        ? (largest / 7) * 0.51
        : largest * (quantisation.endsWith('f16') || quantisation === 'q4f16_1' ? 2 ** -11 : 2 ** -8);
      const worst = values.reduce((top, x, i) => Math.max(top, Math.abs(x - original[i])), 0);
      expect(worst).toBeLessThanOrEqual(bound);
    }
    // What was read is stored again without any further loss.
    const again = mlcFiles(back, { quantisation, tokenizerJson, shardBytes: 5000 });
    for (const [path, data] of files) expect(again.get(path)).toEqual(data);
  });
});

describe('a shard', () => {
  it('keeps to the size limit unless one tensor is larger', () => {
    const files = mlcFiles(randomWeights('qwen3'), { quantisation: 'q0f16', tokenizerJson, shardBytes: 6000 });
    const manifest = JSON.parse(new TextDecoder().decode(files.get('tensor-cache.json'))) as {
      records: { nbytes: number; records: unknown[] }[];
    };
    for (const shard of manifest.records) expect(shard.nbytes <= 6000 || shard.records.length === 1).toBe(true);
  });

  it('may hold tensors at odd offsets, raw float32, and be listed in the older manifest only', async () => {
    const weights = randomWeights('qwen3');
    const files = mlcFiles(weights, { quantisation: 'q0f16', tokenizerJson });
    const odd = editManifest(files, (manifest, shard) => {
      const shifted = new Uint8Array(shard.length + 1);
      shifted.set(shard, 1);
      for (const record of manifest.records[0].records) record.byteOffset += 1;
      return shifted;
    });
    const older = new Map([...odd].filter(([path]) => path !== 'tensor-cache.json'));
    older.set('ndarray-cache.json', odd.get('tensor-cache.json') as Uint8Array);
    expect(flatten((await readMlc(folder(older))).weights)).toEqual(flatten((await readMlc(folder(files))).weights));
  });
});

it('files that Node reads into a shared pool are read right', async () => {
  const files = mlcFiles(randomWeights('qwen2'), { quantisation: 'q0f16', tokenizerJson });
  const pooled = new Map([...files].map(([path, bytes]) => [path, Buffer.concat([Buffer.of(1, 2, 3), bytes]).subarray(3)]));
  expect(flatten((await readMlc(folder(pooled))).weights)).toEqual(flatten((await readMlc(folder(files))).weights));
});

describe('progress and cancelling', () => {
  it('counts all bytes once, upwards', async () => {
    const files = mlcFiles(randomWeights('llama'), { quantisation: 'q0f16', tokenizerJson, shardBytes: 5000 });
    const seen: number[] = [];
    const { bytes } = await readMlc(folder(files), {
      onProgress: ({ loadedBytes, totalBytes }) => {
        expect(totalBytes).toBeGreaterThanOrEqual(loadedBytes);
        seen.push(loadedBytes);
      },
    });
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(seen.at(-1)).toBe(bytes);
  });

  it('stops when asked to', async () => {
    const files = mlcFiles(randomWeights('llama'), { quantisation: 'q0f16', tokenizerJson, shardBytes: 5000 });
    const stop = new AbortController();
    const reading = readMlc(folder(files), { signal: stop.signal, onProgress: () => stop.abort(new Error('enough')) });
    await expect(reading).rejects.toThrow('enough');
  });
});

interface Manifest {
  records: {
    dataPath: string;
    nbytes: number;
    md5sum?: string;
    records: { name: string; shape: number[]; dtype: string; format: string; nbytes: number; byteOffset: number }[];
  }[];
}
type Files = Map<string, Uint8Array>;

/** Changes the manifest, and the first shard's bytes where `change` returns some; sizes and hashes are kept true. */
function editManifest(files: Files, change: (manifest: Manifest, shard: Uint8Array) => unknown): Files {
  const out = new Map(files);
  const manifest = JSON.parse(new TextDecoder().decode(files.get('tensor-cache.json'))) as Manifest;
  const first = manifest.records[0];
  const shard = change(manifest, (files.get(first.dataPath) as Uint8Array).slice());
  if (shard instanceof Uint8Array) {
    out.set(first.dataPath, shard);
    first.nbytes = shard.length;
    first.md5sum = md5(shard);
  }
  out.set('tensor-cache.json', new TextEncoder().encode(JSON.stringify(manifest)));
  return out;
}

function editConfig(files: Files, change: (config: Record<string, unknown>, model: Record<string, unknown>) => unknown): Files {
  const config = JSON.parse(new TextDecoder().decode(files.get('mlc-chat-config.json'))) as Record<string, unknown>;
  change(config, config.model_config as Record<string, unknown>);
  return new Map(files).set('mlc-chat-config.json', new TextEncoder().encode(JSON.stringify(config)));
}

function without(files: Files, path: string): Files {
  const out = new Map(files);
  out.delete(path);
  return out;
}

function poke(shard: Uint8Array, at: number, bits: number): Uint8Array {
  new DataView(shard.buffer).setUint16(at, bits, true);
  return shard;
}

const SHARD = 'params_shard_0.bin';

/** Each damage, the code it must give, and words its message must hold. */
const DAMAGES: [string, (files: Files) => Files, string, string][] = [
  ['no configuration', (f) => without(f, 'mlc-chat-config.json'), 'file-missing', 'mlc-chat-config.json'],
  [
    'no manifest',
    (f) => without(without(f, 'tensor-cache.json'), 'ndarray-cache.json'),
    'file-missing',
    'tensor-cache.json nor ndarray-cache.json',
  ],
  ['no shard', (f) => without(f, SHARD), 'file-missing', SHARD],
  ['a shard cut off', (f) => new Map(f).set(SHARD, (f.get(SHARD) as Uint8Array).slice(0, 100)), 'shard-size', 'cut off'],
  [
    'a shard with a flipped bit',
    (f) =>
      new Map(f).set(
        SHARD,
        (f.get(SHARD) as Uint8Array).map((x, i) => (i === 9 ? x ^ 1 : x)),
      ),
    'hash-mismatch',
    SHARD,
  ],
  [
    'a manifest cut off',
    (f) => new Map(f).set('tensor-cache.json', (f.get('tensor-cache.json') as Uint8Array).slice(0, 300)),
    'bad-json',
    'tensor-cache.json',
  ],
  [
    'a record beyond its shard',
    (f) => editManifest(f, (m) => Object.assign(m.records[0].records[3], { byteOffset: 1e6 })),
    'record-out-of-range',
    'model.layers',
  ],
  [
    'a negative offset',
    (f) => editManifest(f, (m) => Object.assign(m.records[0].records[0], { byteOffset: -2 })),
    'bad-field',
    'records.0.records.0.byteOffset',
  ],
  [
    'a record of the wrong size',
    (f) => editManifest(f, (m) => Object.assign(m.records[0].records[0], { nbytes: m.records[0].records[0].nbytes - 2 })),
    'record-size',
    'model.embed_tokens.weight',
  ],
  ['an unknown type', (f) => editManifest(f, (m) => Object.assign(m.records[0].records[0], { dtype: 'int7' })), 'unknown-dtype', 'int7'],
  [
    'a tensor named twice',
    (f) => editManifest(f, (m) => Object.assign(m.records[0].records[1], { name: 'model.embed_tokens.weight' })),
    'duplicate-tensor',
    'model.embed_tokens.weight',
  ],
  ['a tensor left out', (f) => editManifest(f, (m) => m.records[0].records.splice(2, 1)), 'tensor-missing', 'model.layers.0'],
  [
    'a shard outside the folder',
    (f) => editManifest(f, (m) => Object.assign(m.records[0], { dataPath: '../secret.bin' })),
    'bad-path',
    '../secret.bin',
  ],
  [
    'other sizes than the weights',
    (f) => editConfig(f, (_, m) => Object.assign(m, { hidden_size: 48 })),
    'tensor-shape',
    'model.embed_tokens.weight',
  ],
  ['a missing size', (f) => editConfig(f, (_, m) => delete m.num_hidden_layers), 'bad-field', 'model_config.num_hidden_layers is missing'],
  [
    'a negative size',
    (f) => editConfig(f, (_, m) => Object.assign(m, { intermediate_size: -4 })),
    'bad-field',
    'model_config.intermediate_size',
  ],
  [
    'a size that is a word',
    (f) => editConfig(f, (_, m) => Object.assign(m, { num_attention_heads: 'four' })),
    'bad-field',
    'model_config.num_attention_heads',
  ],
  [
    'key heads that do not divide',
    (f) => editConfig(f, (_, m) => Object.assign(m, { num_key_value_heads: 3 })),
    'bad-field',
    'num_key_value_heads',
  ],
  ['no rotary base', (f) => editConfig(f, (_, m) => delete m.rope_theta), 'bad-field', 'rope_theta'],
  [
    'an unknown rotary scaling',
    (f) => editConfig(f, (_, m) => Object.assign(m, { rope_scaling: { rope_type: 'yarn', factor: 4 } })),
    'bad-field',
    'yarn',
  ],
  ['another activation', (f) => editConfig(f, (_, m) => Object.assign(m, { hidden_act: 'gelu' })), 'bad-field', 'hidden_act'],
  [
    'an unknown quantisation',
    (f) => editConfig(f, (c) => Object.assign(c, { quantization: 'q3f16_0' })),
    'unknown-quantization',
    'q3f16_0',
  ],
  ['an unknown model', (f) => editConfig(f, (c) => Object.assign(c, { model_type: 'gemma3' })), 'unknown-model-type', 'gemma3'],
  [
    'NaN in a tensor',
    (f) => editManifest(f, (m, shard) => poke(shard, m.records[0].records[1].byteOffset + 4, 0x7e00)),
    'not-finite',
    'model.layers.0.input_layernorm.weight',
  ],
  [
    'infinity in a tensor',
    (f) => editManifest(f, (m, shard) => poke(shard, m.records[0].records[0].byteOffset, 0xfc00)),
    'not-finite',
    'model.embed_tokens.weight',
  ],
];

describe('a damaged folder is refused with a name and a remedy', () => {
  const files = mlcFiles(randomWeights('qwen3'), { quantisation: 'q0f16', tokenizerJson });

  it.each(DAMAGES)('%s', async (_, damage, code, part) => {
    const error = await readMlc(folder(damage(files))).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(NacreError);
    const { code: actual, message, hint } = error as NacreError;
    expect({ code: actual, message }).toEqual({ code, message: expect.stringContaining(part) });
    expect(hint).not.toBe('');
  });

  it('lists the supported architectures and quantisations', async () => {
    const bad = editConfig(files, (config) => Object.assign(config, { model_type: 'mamba' }));
    await expect(readMlc(folder(bad))).rejects.toMatchObject({ hint: 'Supported: llama, qwen2, qwen3.' });
  });
});

describe('writing', () => {
  it('refuses values that float16 cannot hold, and names the tensor', () => {
    const weights = randomWeights('qwen2');
    weights.layers[1].postNorm[3] = 7e4;
    expect(() => mlcFiles(weights, { quantisation: 'q0f16', tokenizerJson })).toThrow(
      /model\.layers\.1\.post_attention_layernorm\.weight holds 70000/,
    );
    expect(() => mlcFiles(weights, { quantisation: 'q0f32', tokenizerJson })).not.toThrow();
  });

  it('keeps a config without its optional fields', async () => {
    const { bosId: _, ...config } = tinyConfig('llama', { eosIds: [] });
    const { ropeScaling: __, ...plain } = config;
    const weights = { ...randomWeights('llama'), config: plain };
    const { weights: back } = await readMlc(folder(mlcFiles(weights, { quantisation: 'q0f16', tokenizerJson })));
    expect(back.config).toEqual(plain);
  });
});
