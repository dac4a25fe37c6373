import { useNavigate } from '@solidjs/router';
import { createResource, createSignal, Show } from 'solid-js';
import { NacreError } from '../../core/errors.ts';
import type { ExperimentConfig } from '../../lab/config.ts';
import { useCommands } from '../commands.ts';
import { loadExample, loadRecordedRun } from '../examples.ts';
import { plural } from '../format.ts';
import { useLab } from '../lab.ts';
import { ErrorNote } from '../ui/error-note.tsx';

const MAX_SEED = 0xffff_ffff;

/** The one button: a real experiment on the shipped model. */
export function QuickStart() {
  const lab = useLab();
  const navigate = useNavigate();
  const [seed, setSeed] = createSignal('1');
  const [busy, setBusy] = createSignal(false);
  const [error, setError] = createSignal<unknown>();
  const [example] = createResource(async () => {
    try {
      return await loadExample('textual-quick');
    } catch (cause) {
      setError(cause);
      return undefined;
    }
  });

  const start = async (id: 'textual-quick' | 'pearl-quick') => {
    setBusy(true);
    setError(undefined);
    try {
      const config = { ...(await loadExample(id)), seed: parseSeed(seed()) };
      navigate(`/run/${await lab.createRun(config)}`);
    } catch (cause) {
      setError(cause);
    } finally {
      setBusy(false);
    }
  };
  const openRecorded = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const { name } = await loadExample('textual-quick');
      const known = (await lab.listRuns()).find((run) => run.recorded && run.name === name);
      navigate(`/run/${known?.id ?? (await lab.importRun(await loadRecordedRun()))}`);
    } catch (cause) {
      setError(cause);
    } finally {
      setBusy(false);
    }
  };
  useCommands([
    { id: 'run.recorded', title: 'Look at a recorded run', group: 'Run', run: () => void openRecorded() },
    { id: 'run.quick', title: 'Run the quick experiment', group: 'Run', run: () => void start('textual-quick') },
    { id: 'run.pearl', title: 'Train the tiny policy with PEARL', group: 'Run', run: () => void start('pearl-quick') },
  ]);

  return (
    <form
      class="stack quick"
      onSubmit={(event) => {
        event.preventDefault();
        void start('textual-quick');
      }}
    >
      <div class="row quick-row">
        <button type="submit" class="button primary big" disabled={busy()}>
          {busy() ? 'Preparing the run …' : 'Run the quick experiment'}
        </button>
        <label class="row">
          <span class="text-2">Seed</span>
          <input
            class="input num seed"
            inputmode="numeric"
            value={seed()}
            onInput={(event) => setSeed(event.currentTarget.value)}
            aria-describedby="quick-about"
          />
        </label>
        <span class="quick-links">
          <button type="button" class="link" disabled={busy()} onClick={() => void start('pearl-quick')}>
            Train the tiny policy with PEARL
          </button>
          <a href="#/new">Edit the configuration first</a>
          <button type="button" class="link" disabled={busy()} onClick={() => void openRecorded()}>
            Look at a recorded run
          </button>
        </span>
      </div>
      <p id="quick-about" class="text-2 quick-about">
        <Show when={example.latest} fallback="Nothing is downloaded and nothing leaves this tab.">
          {(config) => describe(config())}
        </Show>
      </p>
      <Show when={error()}>{(cause) => <ErrorNote error={cause()} dismiss={() => setError(undefined)} />}</Show>
    </form>
  );
}

function describe({ suite, textual }: ExperimentConfig): string {
  const k = textual.rolloutsPerTask;
  return `${plural(suite.train, 'training task')} tried ${k} times each, ${suite.val} to judge changes, ${suite.test} kept for the test. The same seed gives the same run. Nothing is downloaded and nothing leaves this tab.`;
}

function parseSeed(text: string): number {
  const seed = Number(text.trim());
  if (text.trim() !== '' && Number.isInteger(seed) && seed >= 0 && seed <= MAX_SEED) return seed;
  throw new NacreError(
    'seed-invalid',
    `The seed "${text}" is not a whole number from 0 to ${MAX_SEED}.`,
    'Any such number will do; 1 is a good start.',
  );
}
