import { connectService } from '../../src/core/rpc.ts';
import type { OwnEngine } from '../../src/models/own/engine.ts';
import { benchSpeakers, type Peers, type Speaker } from './smollm.ts';
import type { BenchRow } from './types.ts';

declare global {
  interface Window {
    runSmolLmBench(): Promise<BenchRow[]>;
  }
}

/** The own engine on the CPU, in the worker that the lab uses. */
async function openNacre(file: Blob): Promise<Speaker> {
  const worker = new Worker(new URL('../../workers/engine.ts', import.meta.url), { type: 'module', name: 'engine' });
  const { remote } = connectService<OwnEngine>(worker);
  await remote.load({ kind: 'gguf', id: 'smollm2', file }, document.baseURI, { backend: 'cpu' });
  return {
    name: 'nacre',
    async say(messages, maxTokens, onText) {
      const { prefix } = await remote.openPrefix([]);
      const [sequence] = await remote.start(prefix, 1);
      const began = performance.now();
      const request = { sequence: sequence!, messages, maxTokens, temperature: 0, topP: 1, seed: 1, key: 'bench' };
      const [turn] = await remote.turns([request], () => onText());
      const ms = performance.now() - began;
      await remote.release([sequence!]);
      await remote.closePrefix(prefix);
      return { ms, promptTokens: turn!.inputTokens, tokens: turn!.tokens.ids.length };
    },
  };
}

async function openPeers(file: Blob): Promise<Peers> {
  try {
    const { openWllama } = await import('./peers/wllama.ts');
    const peer = await openWllama(file, 1);
    const cores = navigator.hardwareConcurrency;
    return { peer, wider: cores > 1 ? () => openWllama(file, cores) : undefined };
  } catch (thrown) {
    return { why: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

/** Called by the bench command in its headless Chromium. */
window.runSmolLmBench = async () => {
  const report = (line: string): void => console.log(line);
  if (!crossOriginIsolated) throw new Error('The page is not cross-origin isolated: there would be no threads.');
  report('smollm: loading the model on both sides');
  const file = await (await fetch('/bench.gguf')).blob();
  const nacre = await openNacre(file);
  return benchSpeakers(nacre, await openPeers(file), report);
};
