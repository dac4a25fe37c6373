import type { Message } from '../core/types.ts';
import type { EngineHandle, EngineReading } from '../models/own/engine.ts';
import type { ProbeRequest, ProbeResult } from './service.ts';

/** A line of three or more dashes separates the context from the observation in a text that is not raw. */
const SEPARATOR = /^-{3,}[ \t]*$/m;

/** Reads a text with an engine: every token with its probability, entropy, alternatives and layer logits. */
export async function probeText(engine: EngineHandle, request: ProbeRequest): Promise<ProbeResult> {
  const reading = await engine.read(request.raw ? request.text : asMessages(request.text), request.topTokens);
  const { id } = await engine.info();
  const named = likely(reading);
  return {
    model: id,
    layers: reading.layers,
    tokens: reading.tokens.map((token) => ({ ...token, text: textOf(reading, token.id), top: token.top.map(named) })),
    next: reading.next.map(named),
    selfCheck: reading.selfCheck,
  };
}

/** What stands before the separator is the context, what follows it the observation; without one it is all observation. */
function asMessages(text: string): readonly Message[] {
  const cut = SEPARATOR.exec(text);
  if (!cut)
    return [
      { role: 'system', content: '' },
      { role: 'user', content: text },
    ];
  return [
    { role: 'system', content: text.slice(0, cut.index).trim() },
    { role: 'user', content: text.slice(cut.index + cut[0].length).trim() },
  ];
}

function likely(reading: EngineReading) {
  return ({ id, probability }: { readonly id: number; readonly probability: number }) => ({ id, text: textOf(reading, id), probability });
}

function textOf(reading: EngineReading, id: number): string {
  return reading.texts.get(id) ?? `#${id}`;
}
