import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { NacreError } from '../src/core/errors.ts';
import { Random } from '../src/core/random.ts';
import { mean } from '../src/core/stats.ts';
import { makeLesson } from '../src/suites/household/demonstrations.ts';
import { type EncodedLesson, LessonEncoder } from '../src/suites/household/encode.ts';
import { CONTEXT_LENGTH, END_TOKEN, tokenizerConfig, tokenizerJson, VOCABULARY_SIZE } from '../src/suites/household/vocabulary.ts';
import { initialWeights } from '../src/transformer/initial-weights.ts';
import { mlcFiles } from '../src/transformer/mlc/write.ts';
import { ParallelTrainer } from '../src/transformer/parallel.ts';
import { flattenWeights, unflattenWeights } from '../src/transformer/parameters.ts';
import { Tokenizer } from '../src/transformer/tokenizer.ts';
import type { TrainBatch } from '../src/transformer/train-batch.ts';
import type { DecoderConfig, DecoderWeights } from '../src/transformer/weights.ts';
import type { TrainService } from '../workers/train.ts';
import { startNodeWorker } from './node-worker.ts';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');

/** Everything a training run depends on; the same settings give the same weights, whatever the number of threads. */
export interface TinySettings {
  readonly seed: number;
  readonly layers: number;
  readonly hidden: number;
  /** Tokens of training in all, contexts and observations included. */
  readonly tokens: number;
  readonly tokensPerStep: number;
  readonly peakRate: number;
  readonly warmupSteps: number;
  readonly clipNorm: number;
  readonly actionWeight: number;
  readonly observationWeight: number;
}

export const TINY_SETTINGS: TinySettings = {
  seed: 1,
  layers: 8,
  hidden: 48,
  tokens: 20_000_000,
  tokensPerStep: 1536,
  peakRate: 4e-3,
  warmupSteps: 100,
  clipNorm: 1,
  actionWeight: 1,
  observationWeight: 0.15,
};

/** Threads share a batch in this many parts. Fixed, so that the sum of gradients is the same on any machine. */
const SHARDS = 4;
const CHECKPOINT_STEPS = 100;
const LOG_STEPS = 20;

export function tinyConfig(settings: TinySettings, endId: number): DecoderConfig {
  const headDim = 16;
  const heads = settings.hidden / headDim;
  return {
    architecture: 'qwen3',
    hidden: settings.hidden,
    layers: settings.layers,
    heads,
    kvHeads: heads % 2 === 0 ? heads / 2 : 1,
    headDim,
    ffn: 2 * settings.hidden,
    vocab: VOCABULARY_SIZE,
    ropeTheta: 10_000,
    normEps: 1e-6,
    tied: true,
    embedScale: 0.5 * Math.sqrt(settings.hidden),
    contextLength: CONTEXT_LENGTH,
    eosIds: [endId],
  };
}

export function tinyTokenizer(): Tokenizer {
  return Tokenizer.fromJson(tokenizerJson(), tokenizerConfig());
}

/** The files of the shipped model for the given weights. */
export function tinyFiles(weights: DecoderWeights): Map<string, Uint8Array> {
  return mlcFiles(weights, {
    quantisation: 'q0f16',
    tokenizerJson: JSON.stringify(tokenizerJson()),
    tokenizerConfig: JSON.stringify(tokenizerConfig(), null, 2),
    sampling: { temperature: 0, topP: 1 },
  });
}

interface Checkpoint {
  readonly settings: TinySettings;
  readonly step: number;
  readonly tokens: number;
  readonly lessons: number;
}

interface RunOptions {
  readonly settings: TinySettings;
  /** Folder of checkpoint and log. */
  readonly folder: string;
  readonly threads: number;
  readonly signal?: AbortSignal;
}

/** Trains until the budget is spent or the signal aborts, going on from the folder's checkpoint; returns the weights. */
export async function trainTiny({ settings, folder, threads, signal }: RunOptions): Promise<DecoderWeights> {
  await mkdir(folder, { recursive: true });
  const tokenizer = tinyTokenizer();
  const random = new Random(settings.seed, 'nacre-tiny');
  const start = initialWeights(tinyConfig(settings, tokenizer.idOf(END_TOKEN)!), random.split('weights'));
  const workers = await Promise.all(
    Array.from({ length: threads }, async () => {
      const worker = startNodeWorker<TrainService>('train');
      await worker.remote.open(start);
      return worker;
    }),
  );
  const trainer = new ParallelTrainer(
    workers.map((worker) => worker.remote),
    SHARDS,
  );
  const lessons = new LessonStream(settings, new LessonEncoder(tokenizer), random.split('lessons'));
  const progress = await readCheckpoint(folder, settings, trainer);
  lessons.count = progress.lessons;
  let { step, tokens } = progress;
  const began = { at: performance.now(), tokens };
  let losses: number[] = [];
  try {
    while (tokens < settings.tokens && !signal?.aborted) {
      const batch = lessons.next(tokens < settings.tokens / 3);
      const report = await trainer.step(batch, { lr: rateAt(settings, step, tokens), clipNorm: settings.clipNorm });
      step++;
      tokens += batch.tokens.length;
      losses.push(report.loss);
      if (step % LOG_STEPS === 0) {
        const seconds = (performance.now() - began.at) / 1000;
        const speed = (tokens - began.tokens) / seconds;
        const loss = mean(losses);
        losses = [];
        const left = (settings.tokens - tokens) / speed / 60;
        process.stderr.write(
          `step ${step} · ${(tokens / 1e6).toFixed(2)} of ${settings.tokens / 1e6} M tokens · loss ${loss.toFixed(4)} · ${speed.toFixed(0)} tokens/s · ${left.toFixed(1)} min left\n`,
        );
        const line = { step, tokens, loss: Number(loss.toFixed(4)), rate: Number(rateAt(settings, step, tokens).toPrecision(3)) };
        await writeFile(join(folder, LOG_FILE), `${JSON.stringify(line)}\n`, { flag: 'a' });
      }
      if (step % CHECKPOINT_STEPS === 0) await writeCheckpoint(folder, { settings, step, tokens, lessons: lessons.count }, trainer);
    }
    await writeCheckpoint(folder, { settings, step, tokens, lessons: lessons.count }, trainer);
    return unflattenWeights(start, (await trainer.state()).parameters);
  } finally {
    await Promise.all(workers.map((worker) => worker.close()));
  }
}

/** Linear warm-up, then a cosine over the token budget down to a twentieth of the peak. */
function rateAt(settings: TinySettings, step: number, tokens: number): number {
  const warm = Math.min(1, (step + 1) / settings.warmupSteps);
  const cosine = 0.5 * (1 + Math.cos(Math.PI * Math.min(1, tokens / settings.tokens)));
  return settings.peakRate * warm * (0.05 + 0.95 * cosine);
}

/** Lessons in order; the n-th depends on the seed and n alone. */
class LessonStream {
  count = 0;
  private readonly settings: TinySettings;
  private readonly encoder: LessonEncoder;
  private readonly random: Random;

  constructor(settings: TinySettings, encoder: LessonEncoder, random: Random) {
    this.settings = settings;
    this.encoder = encoder;
    this.random = random;
  }

  next(early: boolean): TrainBatch {
    const { actionWeight, observationWeight, tokensPerStep } = this.settings;
    const lessons: EncodedLesson[] = [];
    for (let size = 0; size < tokensPerStep; ) {
      const lesson = makeLesson(this.random.split(this.count++), early);
      const encoded = this.encoder.encode(lesson, { action: actionWeight, observation: observationWeight });
      lessons.push(encoded);
      size += encoded.tokens.length;
    }
    return packLessons(lessons);
  }
}

function packLessons(lessons: readonly EncodedLesson[]): TrainBatch {
  let length = 0;
  const starts = lessons.map((lesson) => {
    length += lesson.tokens.length;
    return length - lesson.tokens.length;
  });
  return {
    tokens: Uint32Array.from(lessons.flatMap((lesson) => lesson.tokens)),
    targets: Uint32Array.from(lessons.flatMap((lesson) => lesson.targets)),
    weights: Float32Array.from(lessons.flatMap((lesson) => lesson.weights)),
    sequenceStarts: Uint32Array.from(starts),
  };
}

const STATE_FILE = 'checkpoint.json';
const WEIGHTS_FILE = 'checkpoint.bin';
const LOG_FILE = 'training-log.jsonl';

async function writeCheckpoint(folder: string, checkpoint: Checkpoint, trainer: ParallelTrainer): Promise<void> {
  const { parameters, optimiser } = await trainer.state();
  const { length } = parameters;
  const all = new Float32Array(3 * length);
  all.set(parameters, 0);
  all.set(optimiser.m, length);
  all.set(optimiser.v, 2 * length);
  // Weights first: a checkpoint whose description is older only repeats some steps of a newer one.
  await writeWhole(join(folder, WEIGHTS_FILE), new Uint8Array(all.buffer));
  await writeWhole(join(folder, STATE_FILE), `${JSON.stringify({ ...checkpoint, optimiserStep: optimiser.step }, null, 2)}\n`);
}

async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  await writeFile(`${path}.part`, content);
  await rename(`${path}.part`, path);
}

async function readCheckpoint(folder: string, settings: TinySettings, trainer: ParallelTrainer): Promise<Checkpoint> {
  let text: string;
  try {
    text = await readFile(join(folder, STATE_FILE), 'utf8');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    return { settings, step: 0, tokens: 0, lessons: 0 };
  }
  const stored = JSON.parse(text) as Checkpoint & { optimiserStep: number };
  if (JSON.stringify(stored.settings) !== JSON.stringify(settings)) {
    throw new NacreError(
      'other-settings',
      `${join(folder, STATE_FILE)} belongs to a run with other settings.`,
      'Give another folder with --folder, or remove this one to start afresh.',
    );
  }
  await trainer.load(await checkpointState(folder, stored.optimiserStep));
  return stored;
}

async function checkpointState(folder: string, optimiserStep: number) {
  const bytes = await readFile(join(folder, WEIGHTS_FILE));
  const all = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  const length = all.length / 3;
  return {
    parameters: all.slice(0, length),
    optimiser: { step: optimiserStep, m: all.slice(length, 2 * length), v: all.slice(2 * length) },
  };
}

/** The weights of a checkpoint folder, for looking at a run while it goes. */
export async function checkpointWeights(folder: string): Promise<DecoderWeights> {
  const stored = JSON.parse(await readFile(join(folder, STATE_FILE), 'utf8')) as Checkpoint & { optimiserStep: number };
  const config = tinyConfig(stored.settings, tinyTokenizer().idOf(END_TOKEN)!);
  const { parameters } = await checkpointState(folder, stored.optimiserStep);
  return unflattenWeights(initialWeights(config, new Random(0)), parameters);
}

/** Longest log that is shipped, in lines. */
const SHIPPED_LOG_LINES = 800;

/** Writes the model in MLC format, with the log of the run in `folder` thinned to a size fit for shipping. */
export async function exportTiny(weights: DecoderWeights, settings: TinySettings, folder: string, target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  for (const [path, bytes] of tinyFiles(weights)) await writeFile(join(target, path), bytes);
  const lines = (await readFile(join(folder, LOG_FILE), 'utf8')).trim().split('\n');
  const every = Math.ceil(lines.length / SHIPPED_LOG_LINES);
  const header = JSON.stringify({ settings, parameters: flattenWeights(weights).length });
  const kept = lines.filter((_, i) => i % every === every - 1);
  await writeFile(join(target, LOG_FILE), `${[header, ...kept].join('\n')}\n`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      folder: { type: 'string', default: join(ROOT, 'build/train-tiny') },
      out: { type: 'string', default: join(ROOT, 'public/models/nacre-tiny') },
      seed: { type: 'string' },
      tokens: { type: 'string' },
      layers: { type: 'string' },
      hidden: { type: 'string' },
      rate: { type: 'string' },
      threads: { type: 'string', default: '2' },
    },
  });
  const number = (text: string | undefined, otherwise: number): number => (text === undefined ? otherwise : Number(text));
  const settings: TinySettings = {
    ...TINY_SETTINGS,
    seed: number(values.seed, TINY_SETTINGS.seed),
    tokens: number(values.tokens, TINY_SETTINGS.tokens),
    layers: number(values.layers, TINY_SETTINGS.layers),
    hidden: number(values.hidden, TINY_SETTINGS.hidden),
    peakRate: number(values.rate, TINY_SETTINGS.peakRate),
  };
  const abort = new AbortController();
  process.once('SIGINT', () => abort.abort());
  process.once('SIGTERM', () => abort.abort());
  const weights = await trainTiny({ settings, folder: values.folder, threads: Number(values.threads), signal: abort.signal });
  if (abort.signal.aborted) return;
  await exportTiny(weights, settings, values.folder, values.out);
  process.stderr.write(`Wrote ${values.out} (${flattenWeights(weights).length} parameters).\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
