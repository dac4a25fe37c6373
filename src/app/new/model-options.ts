import type { ListedModel } from '../../lab/service.ts';
import { RUNTIME_WORDS } from '../models/words.ts';
import { type Draft, readPath } from './draft.ts';

/** A model and a way to run it, as it stands in a list to choose from. */
export interface ModelOption {
  readonly key: string;
  readonly title: string;
  readonly group: 'Shipped' | 'In this browser' | 'Servers';
  /** What goes into the configuration. */
  readonly choice: Draft;
}

/** Nothing is chosen yet. */
export const NONE = '';
/** Options that are no listed model. */
export const TYPED = 'typed';
export const SERVER = 'server';

const GROUPS: Readonly<Record<ListedModel['where'], ModelOption['group']>> = {
  shipped: 'Shipped',
  downloaded: 'In this browser',
  local: 'In this browser',
  server: 'Servers',
};

/** One option for each way to run each model, the usual way first. */
export function modelOptions(models: readonly ListedModel[]): readonly ModelOption[] {
  return models.flatMap((model) =>
    model.uses.map(({ choice, runtime }): ModelOption => {
      const how = model.uses.length > 1 ? ` · ${RUNTIME_WORDS[runtime].title}` : '';
      const rest = model.complete ? '' : ' (incomplete: the rest is downloaded first)';
      return { key: choiceOf(choice), title: `${model.title}${how}${rest}`, group: GROUPS[model.where], choice: { ...choice } };
    }),
  );
}

/** What a part of a configuration means as an option: the same model on the same runtime or server has the same key. */
export function choiceOf(choice: unknown): string {
  const model = readPath(choice, ['model']) ?? 'nacre-tiny';
  if (model === 'endpoint')
    return JSON.stringify([model, readPath(choice, ['endpoint', 'baseUrl']), readPath(choice, ['endpoint', 'model'])]);
  return JSON.stringify([model, readPath(choice, ['runtime']) ?? 'own']);
}

/**
 * The option that is selected for a choice: a listed one, a server that was not asked, or a name that was typed. A target without
 * a model is the shipped one; a critic without a model has still to be chosen.
 */
export function selectedOption(options: readonly ModelOption[], choice: unknown, role: 'target' | 'critic'): string {
  if (role === 'critic' && readPath(choice, ['model']) === undefined) return NONE;
  const key = choiceOf(choice);
  if (options.some((option) => option.key === key)) return key;
  return readPath(choice, ['model']) === 'endpoint' ? SERVER : TYPED;
}

/**
 * A target or critic with another model. What belongs to the old one goes; how many requests may be open and the like stay
 * where one server follows another.
 */
export function withModel(part: unknown, option: ModelOption | typeof TYPED | typeof SERVER): Draft {
  const before = isRecord(part) ? part : {};
  const { model: _, runtime: __, contextLength: ___, endpoint, ...rest } = before;
  if (option === TYPED) return { ...rest, model: '' };
  const chosen = option === SERVER ? { model: 'endpoint', endpoint: { baseUrl: 'http://127.0.0.1:8000/v1', model: '' } } : option.choice;
  const { backend, ...model } = chosen as Draft;
  const server = readPath(chosen, ['endpoint']);
  return {
    ...rest,
    backend: rest.backend ?? backend ?? 'auto',
    ...model,
    ...(isRecord(server) ? { endpoint: { ...SERVER_DEFAULTS, ...server, ...kept(endpoint) } } : {}),
  };
}

/** Limits of a server that a form shows, as the schema has them. */
const SERVER_DEFAULTS = { parallel: 8, timeoutSeconds: 120, retries: 5, actionTokens: 256 };

function kept(endpoint: unknown): Draft {
  const known = isRecord(endpoint) ? endpoint : {};
  return Object.fromEntries(Object.keys(SERVER_DEFAULTS).flatMap((name) => (name in known ? [[name, known[name]]] : [])));
}

function isRecord(value: unknown): value is Draft {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
