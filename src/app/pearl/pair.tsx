import { createMemo, createSignal, Show } from 'solid-js';
import type { Decision, DecisionMatch, PairRecord } from '../../pearl/types.ts';
import { ChartFigure } from '../chart/chart-figure.tsx';
import { type ChartSeries, LineChart } from '../chart/line-chart.tsx';
import { plural } from '../format.ts';
import { showToken } from '../probe/token-text.ts';
import type { TableData } from '../ui/data-table.tsx';
import { OutcomeBadge } from '../ui/mark.tsx';
import { Segmented } from '../ui/segmented.tsx';
import { clusterName, findTrajectory, shortId, tokenMarks } from './derive.ts';
import type { UpdateView } from './pearl-store.ts';
import { usePearl } from './state.ts';
import { TokenText } from './token-text.tsx';

/** A parent and its branch side by side: where they part, how each went on, and what the layers made of either token. */
export function Pair(props: { readonly pair: PairRecord; readonly update: UpdateView }) {
  const { view, go } = usePearl();
  const before = () => {
    const found = findTrajectory(view(), props.pair.lower.trajectoryId);
    return found?.trajectory.turns[props.pair.lower.turn]?.observation;
  };
  const task = () => view().tasks.get(props.pair.taskId);
  return (
    <div class="stack pair">
      <div class="row spread">
        <h3 class="wrap">{task()?.input ?? props.pair.taskId}</h3>
        <button type="button" class="button small" onClick={() => go({ pair: undefined })}>
          Back to the pairs
        </button>
      </div>
      <p class="small text-2">
        <span class="mono">{shortId(props.pair.branchId)}</span> branched from <span class="mono">{shortId(props.pair.parentId)}</span> at
        turn {props.pair.branchTurn + 1}; they share {plural(props.pair.sharedTokens, 'token')} more and part at{' '}
        <strong class="mono">{showToken(props.pair.lower.tokenText)}</strong> against{' '}
        <strong class="mono">{showToken(props.pair.higher.tokenText)}</strong>.
      </p>
      <Show when={before()}>{(text) => <p class="observation pair-before">{text()}</p>}</Show>
      <div class="pair-sides">
        <Side pair={props.pair} side="lower" update={props.update} />
        <Side pair={props.pair} side="higher" update={props.update} />
      </div>
      <Curves pair={props.pair} />
    </div>
  );
}

function Side(props: { readonly pair: PairRecord; readonly side: 'lower' | 'higher'; readonly update: UpdateView }) {
  const { view, go } = usePearl();
  const decision = (): Decision => props.pair[props.side];
  const outcome = () => (props.side === 'lower' ? ('failure' as const) : ('success' as const));
  const found = createMemo(() => findTrajectory(view(), decision().trajectoryId));
  const point = () =>
    props.update.added[outcome()].find(({ trajectoryId, turn, token }) => {
      const here = decision();
      return trajectoryId === here.trajectoryId && turn === here.turn && token === here.token;
    });
  const shaped = () => props.update.shaped.filter(({ pairId }) => pairId === props.pair.id);
  const reply = () => {
    const one = found()?.trajectory;
    return one ? (one.turns[decision().turn + 1]?.observation ?? one.finalObservation) : point()?.reply;
  };
  return (
    <section
      class={`pair-side ${outcome()}-side`}
      aria-label={outcome() === 'failure' ? 'The side that failed' : 'The side that succeeded'}
    >
      <div class="row spread">
        <OutcomeBadge outcome={outcome()}>{outcome()}</OutcomeBadge>
        <Show when={found()}>
          <button type="button" class="link small" onClick={() => go({ trajectory: decision().trajectoryId })}>
            {shortId(decision().trajectoryId)}, whole rollout
          </button>
        </Show>
      </div>
      <p class="action">
        <Show when={found()} fallback={<span class="mono">{point()?.action ?? showToken(decision().tokenText)}</span>}>
          {(one) => <TokenText tokens={tokenMarks(one().trajectory, decision().turn, [decision()], shaped())} outcome={outcome()} />}
        </Show>
      </p>
      <p class="observation small">{reply()}</p>
      <Show when={found()}>
        {(one) => (
          <p class="small text-2">
            {plural(one().trajectory.turns.length - decision().turn - 1, 'turn')} later: {one().trajectory.finish}, reward{' '}
            {one().trajectory.reward}
          </p>
        )}
      </Show>
      <Match match={props.side === 'lower' ? props.pair.lowerMatch : props.pair.higherMatch} outcome={outcome()} />
    </section>
  );
}

function Match(props: { readonly match: DecisionMatch | undefined; readonly outcome: 'failure' | 'success' }) {
  const words = () => {
    const match = props.match;
    if (!match) return 'Nothing had been clustered yet, so there was nothing to match.';
    if (match.cluster < 0) return 'It matched no cluster of the last fit: its advantage stays as it is.';
    const where = `It falls into cluster ${clusterName(props.outcome, match.cluster)} (strength ${match.strength.toFixed(2)})`;
    if (match.multiplier !== 1)
      return `${where}, so the advantage of the underlined tokens is multiplied by ${match.multiplier.toFixed(2)}.`;
    if (props.outcome === 'success') return `${where}.`;
    return match.kept ? `${where}, kept, but the multiplier is 1.` : `${where}, which success vetoed: its advantage stays as it is.`;
  };
  return <p class="small">{words()}</p>;
}

function Curves(props: { readonly pair: PairRecord }) {
  const [kind, setKind] = createSignal<'normed' | 'raw'>('normed');
  const series = createMemo((): ChartSeries[] =>
    (['lower', 'higher'] as const).map((side) => {
      const name = side === 'lower' ? 'failure' : 'success';
      const text = showToken(props.pair[side].tokenText);
      return {
        title: `${name}: ${text}`,
        tone: name,
        join: 'line',
        dashed: side === 'lower',
        points: props.pair[`${side}Curve`][kind()].map((y, layer) => ({
          x: layer + 1,
          y,
          label: `layer ${layer + 1}, ${name} “${text}”, logit ${y.toFixed(3)}`,
        })),
      };
    }),
  );
  const layers = () => props.pair.lowerCurve.normed.length;
  const caption = () =>
    `Logit of either first different token after every layer, read where they part. The late half (layers ${Math.floor(layers() / 2) + 1} to ${layers()}) is the usual feature of a decision.`;
  const table = (): TableData => ({
    columns: ['layer', 'failure, normed', 'success, normed', 'failure, raw', 'success, raw'],
    rows: props.pair.lowerCurve.normed.map((value, i) => [
      i + 1,
      value,
      props.pair.higherCurve.normed[i] ?? null,
      props.pair.lowerCurve.raw[i] ?? null,
      props.pair.higherCurve.raw[i] ?? null,
    ]),
  });
  return (
    <div>
      <Segmented
        label="Which logits"
        options={[
          { id: 'normed', title: 'With final norm', hint: 'what the model itself would read off that layer' },
          { id: 'raw', title: 'Raw', hint: 'the hidden state as it is' },
        ]}
        selected={kind()}
        onSelect={setKind}
      />
      <ChartFigure title="Layer logits" caption={caption()} name="pair-layer-logits" table={table}>
        <LineChart
          label="Logits of the first different tokens by layer"
          series={series()}
          xLabel="layer"
          yLabel="logit"
          xDomain={[1, Math.max(2, layers())]}
          formatY={(value) => String(value).replace('-', '−')}
          height={180}
        />
      </ChartFigure>
    </div>
  );
}
