import { NacreError } from '../../core/errors.ts';

type Maker = (message: string, model: string) => NacreError;

/** Each kind of failure with the texts it shows itself by; the first that fits is taken. */
const KINDS: readonly (readonly [RegExp, Maker])[] = [
  [
    /exceeds? (?:the )?(?:available )?context|context size|kv cache (?:is )?full|too large to process/i,
    (message, model) =>
      new NacreError(
        'context-length',
        `The text does not fit the context window of ${model}: ${message}`,
        'Load the model with a longer context, or choose one that has it.',
      ),
  ],
  [
    /unknown (?:model )?architecture|unsupported model|unknown pre-tokenizer/i,
    (message, model) =>
      new NacreError(
        'architecture-unsupported',
        `llama.cpp does not know the kind of model in ${model}: ${message}`,
        'Choose a GGUF file of another model, or one made for an older version of llama.cpp.',
      ),
  ],
  [
    /out ?of ?memory|failed to allocate|allocation failed|unable to allocate|bad_alloc|memory access out of bounds|Cannot enlarge memory/i,
    (_, model) =>
      new NacreError(
        'out-of-memory',
        `${model} does not fit the memory of this page.`,
        'Choose a smaller model or a coarser quantisation (Q4), load it with a shorter context, or close other tabs.',
      ),
  ],
  [
    /grammar|json ?schema|failed to parse/i,
    (message, model) =>
      new NacreError(
        'schema-refused',
        `${model} cannot be held to this JSON schema: ${message}`,
        'Use a simpler schema (objects, arrays, strings, numbers, enums), or ask for JSON in words.',
      ),
  ],
  [
    /template|jinja/i,
    (message, model) =>
      new NacreError(
        'messages-refused',
        `The chat template of ${model} does not take these messages: ${message}`,
        'Some models take no system message, or want user and assistant in turn. Choose another model.',
      ),
  ],
  [
    /file read failed|invalid magic|tensor .* (?:out of bounds|not within)|corrupt|unexpected end|failed to read|error loading model/i,
    (message, model) =>
      new NacreError(
        'model-files-damaged',
        `${model} cannot be read: ${message}`,
        'The file is cut off or damaged: delete it in the library, or copy it again, and load it once more.',
      ),
  ],
];

/**
 * The error people are told for what wllama threw.
 * @param native the last lines that llama.cpp itself printed: they say what the thrown error often does not
 */
export function llamaCppError(thrown: unknown, model: string, native: readonly string[] = []): NacreError {
  if (thrown instanceof NacreError) return thrown;
  const message = thrown instanceof Error ? thrown.message : typeof thrown === 'string' ? thrown : JSON.stringify(thrown);
  for (const text of [message, ...native.toReversed()]) {
    const make = KINDS.find(([pattern]) => pattern.test(text))?.[1];
    if (make) return make(sentence(text), model);
  }
  return new NacreError(
    'llamacpp-failed',
    `llama.cpp failed on ${model}: ${sentence(message)}`,
    'Load the model again; if it fails again, check its file in the library or choose another model.',
    { cause: thrown },
  );
}

/** Whether llama.cpp itself has ended, so that it must be started again before it can answer. */
export function isCrash(thrown: unknown): boolean {
  return thrown instanceof Error && (thrown.name === 'RuntimeError' || /was unloaded/.test(thrown.message));
}

function sentence(text: string): string {
  const first = text.trim().split('\n')[0]!.slice(0, 240);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
