import { NacreError } from '../../core/errors.ts';
import type { MatrixSource } from '../../tensor/backend.ts';
import { GROUP } from '../quantise.ts';
import type { DecoderConfig, DecoderWeights, LayerWeights } from '../weights.ts';
import { CONFIG_FILE, type Quantisation } from './config.ts';
import type { TensorRecord } from './manifest.ts';
import { EMBED, FINAL_NORM, layerNames, parameters, UNEMBED } from './names.ts';
import { floats, type Tensor } from './tensors.ts';

/** What must be read for a decoder, and how it is put together. */
export interface Plan {
  /** Names of the tensors to keep. */
  readonly needed: ReadonlySet<string>;
  assemble(tensors: ReadonlyMap<string, Tensor>): DecoderWeights;
}

/** @throws {NacreError} `tensor-missing`, `tensor-shape` or `tensor-type` naming the tensor. */
export function planOf(config: DecoderConfig, quantisation: Quantisation, records: ReadonlyMap<string, TensorRecord>): Plan {
  const quantised = quantisation.startsWith('q4');
  const parts = {
    qkvBias: config.architecture === 'qwen2' || records.has(layerNames(config.architecture, 0).qkvBias),
    qkNorm: config.architecture === 'qwen3',
  };
  const needed = new Set<string>();
  const shapes = new Map<string, readonly [rows: number, cols: number]>();
  for (const item of parameters(config, parts)) {
    if (item.kind === 'matrix') shapes.set(item.name, [item.rows, item.cols]);
    const tensors =
      item.kind === 'matrix' ? matrixTensors(item.name, item.rows, item.cols, quantised) : [{ name: item.name, shape: [item.length] }];
    for (const { name, shape } of tensors) {
      checkRecord(name, shape, records.get(name));
      needed.add(name);
    }
  }

  function assemble(tensors: ReadonlyMap<string, Tensor>): DecoderWeights {
    const get = (name: string): Tensor => tensors.get(name) as Tensor;
    const vector = (name: string): Float32Array => floats(get(name));
    const matrix = (name: string): MatrixSource => {
      const [rows, cols] = shapes.get(name) as readonly [number, number];
      if (quantised) {
        const codes = get(`${name}.q_weight`).data as Uint32Array;
        return { rows, cols, format: 'q4', codes, scales: vector(`${name}.q_scale`) };
      }
      return plainMatrix(get(`${name}.weight`), rows, cols);
    };
    const layers = Array.from({ length: config.layers }, (_, index): LayerWeights => {
      const names = layerNames(config.architecture, index);
      return {
        inputNorm: vector(names.inputNorm),
        qkv: matrix(names.qkv),
        ...(parts.qkvBias ? { qkvBias: vector(names.qkvBias) } : {}),
        ...(parts.qkNorm ? { qNorm: vector(names.qNorm), kNorm: vector(names.kNorm) } : {}),
        o: matrix(names.o),
        postNorm: vector(names.postNorm),
        gateUp: matrix(names.gateUp),
        down: matrix(names.down),
      };
    });
    return { config, embed: matrix(EMBED), layers, finalNorm: vector(FINAL_NORM), ...(config.tied ? {} : { unembed: matrix(UNEMBED) }) };
  }

  return { needed, assemble };
}

interface TensorShape {
  readonly name: string;
  readonly shape: readonly number[];
}

/** The tensors that store one matrix. */
export function matrixTensors(name: string, rows: number, cols: number, quantised: boolean): TensorShape[] {
  if (!quantised) return [{ name: `${name}.weight`, shape: [rows, cols] }];
  const groups = Math.ceil(cols / GROUP);
  return [
    { name: `${name}.q_weight`, shape: [rows, (groups * GROUP) / 8] },
    { name: `${name}.q_scale`, shape: [rows, groups] },
  ];
}

function checkRecord(name: string, shape: readonly number[], record: TensorRecord | undefined): void {
  if (record === undefined) {
    throw new NacreError(
      'tensor-missing',
      `The manifest has no tensor ${name}.`,
      `Check that model_type, quantization and the sizes in ${CONFIG_FILE} describe these weights.`,
    );
  }
  if (record.shape.join() !== shape.join()) {
    throw new NacreError(
      'tensor-shape',
      `Tensor ${name} has shape [${record.shape.join(', ')}], but ${CONFIG_FILE} asks for [${shape.join(', ')}].`,
      'The configuration and the weights belong to different models: download both again.',
    );
  }
  if ((record.encoding === 'u32') !== name.endsWith('.q_weight')) {
    throw new NacreError(
      'tensor-type',
      `Tensor ${name} is stored as ${record.encoding}.`,
      'The manifest is damaged: download the model again.',
    );
  }
}

function plainMatrix(value: Tensor, rows: number, cols: number): MatrixSource {
  if (value.encoding === 'u32') throw new TypeError('a plain matrix cannot be stored as u32');
  return value.encoding === 'f32'
    ? { rows, cols, format: 'f32', data: value.data }
    : { rows, cols, format: value.encoding, data: value.data };
}
