/** What is known of a model's licence from its name. Names are the makers' own; the model's page has the text. */
const LICENCES: readonly (readonly [RegExp, string])[] = [
  [/^qwen2\.5-(coder-)?3b/i, 'Qwen Research License (no commercial use)'],
  [/^(qwen|smollm|olmo|mistral|ministral|openhermes|neuralhermes|tinyllama|redpajama)/i, 'Apache 2.0'],
  [/^hermes-2-pro-mistral/i, 'Apache 2.0'],
  [/^phi/i, 'MIT'],
  [/^deepseek-r1-distill-qwen/i, 'MIT'],
  [/^deepseek-r1-distill-llama/i, 'MIT, on Llama 3.1 Community License'],
  [/^gemma(?!-4)/i, 'Gemma Terms of Use'],
  [/^(llama-2)/i, 'Llama 2 Community License'],
  [/^(llama-3\.2|hermes-3-llama-3\.2)/i, 'Llama 3.2 Community License'],
  [/^(llama-3\.1|hermes-3-llama-3\.1)/i, 'Llama 3.1 Community License'],
  [/^(llama-3|hermes-2-.*llama-3)/i, 'Llama 3 Community License'],
];

/** The licence of a listed model as far as its name tells; undefined where it does not. */
export function licenceOf(id: string): string | undefined {
  return LICENCES.find(([pattern]) => pattern.test(id))?.[1];
}

/** The page of a model of WebLLM's list, with its licence and its description. */
export function modelPage(id: string): string {
  return `https://huggingface.co/mlc-ai/${id.replace(/-MLC-1k$/, '-MLC')}`;
}
