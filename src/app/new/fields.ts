/** The settings a form shows, as data: where each is, what it is called, what it means. Limits stay with the schema. */
export interface Field {
  readonly path: readonly string[];
  readonly label: string;
  readonly help?: string;
  /** Empty is allowed and means absent. */
  readonly optional?: boolean;
  readonly kind:
    | 'whole'
    | 'real'
    | 'text'
    | 'long-text'
    | 'switch'
    | { readonly options: readonly { readonly id: string; readonly title: string }[] };
}

export interface FieldGroup {
  /** For groups that a section of their own shows. */
  readonly id?: 'tasks';
  readonly title: string;
  /** Shown closed until asked for. */
  readonly advanced?: boolean;
  readonly fields: readonly Field[];
}

const suite = (name: string, label: string, help: string): Field => ({ path: ['suite', name], label, help, kind: 'whole' });
const whole = (name: string, label: string, help?: string): Field => ({
  path: ['textual', name],
  label,
  kind: 'whole',
  ...(help === undefined ? {} : { help }),
});
const toggle = (name: string, label: string): Field => ({ path: ['textual', 'ablations', name], label, kind: 'switch' });

export const FIELD_GROUPS: readonly FieldGroup[] = [
  {
    title: 'Run',
    fields: [
      { path: ['name'], label: 'Name', kind: 'text' },
      { path: ['seed'], label: 'Seed', help: 'The same seed and settings give the same run.', kind: 'whole' },
    ],
  },
  {
    id: 'tasks',
    title: 'Tasks',
    fields: [
      suite('train', 'Training', 'Tried K times a step'),
      suite('val', 'Validation', 'Judges each change'),
      suite('test', 'Test', 'Seen only at the end'),
      suite('unseen', 'Unseen pairs', 'Objects in places never trained on'),
    ],
  },
  {
    title: 'Loop',
    fields: [
      whole('rolloutsPerTask', 'K, tries per task'),
      whole('epochs', 'Epochs'),
      whole('batchTasks', 'Tasks per step'),
      whole('editBudget', 'Edits per step, at first'),
      whole('minEditBudget', 'Edits per step, at the end'),
      { path: ['textual', 'trainTemperature'], label: 'Training temperature', kind: 'real' },
      { path: ['textual', 'evalTemperature'], label: 'Evaluation temperature', kind: 'real' },
      { path: ['textual', 'stopAtPerfect'], label: 'Stop when validation reaches 100%', kind: 'switch' },
    ],
  },
  {
    title: 'Parts that can be switched off',
    advanced: true,
    fields: [
      toggle('outcomeRouting', 'Outcome routing'),
      toggle('crossGroupReview', 'Cross-group review'),
      toggle('noEditCards', 'Cards without edits'),
      toggle('intraGroupCardsOnly', 'Only cards of the same group'),
    ],
  },
  {
    title: 'Limits',
    advanced: true,
    fields: [
      whole('critiqueBatch', 'Task blocks per critique'),
      whole('mergeBatch', 'Bundles per merge'),
      whole('maxEditChars', 'Characters per edit'),
      whole('maxContextChars', 'Characters of the context'),
      whole('rolloutRetries', 'Retries of a rollout that could not run'),
      whole('resamples', 'Resamples of a blocked patch'),
      whole('tokenCap', 'Token cap', '0 means none.'),
    ],
  },
  {
    title: 'Initial context',
    fields: [
      {
        path: ['initialContext'],
        label: 'Markdown the model reads before its first step',
        help: 'Empty is a fair start. <!-- protected:start NAME --> … <!-- protected:end NAME --> keeps a part as it is.',
        kind: 'long-text',
      },
    ],
  },
];

/** Where a model is computed, for runtimes that can choose. */
export const BACKENDS = [
  { id: 'auto', title: 'whatever is faster here' },
  { id: 'cpu', title: 'CPU' },
  { id: 'webgpu', title: 'WebGPU' },
] as const;

/** Fields of a model reached at a server, below a target or critic. */
export function serverFields(path: readonly string[]): readonly Field[] {
  const at = (name: string) => [...path, 'endpoint', name];
  return [
    { path: at('baseUrl'), label: 'Base URL', help: 'As OpenAI clients take it, usually ending in /v1.', kind: 'text' },
    { path: at('model'), label: 'Model at the server', help: 'Empty takes the only one it offers.', kind: 'text' },
    { path: at('parallel'), label: 'Requests at a time', kind: 'whole', optional: true },
    { path: at('timeoutSeconds'), label: 'Seconds without a byte, at most', kind: 'real', optional: true },
    { path: at('retries'), label: 'Attempts after a passing failure', kind: 'whole', optional: true },
    { path: at('actionTokens'), label: 'Tokens per action, at most', kind: 'whole', optional: true },
  ];
}
