import type { Score } from '../../textual/types.ts';
import { formatInterval, formatRate, plural } from '../format.ts';
import type { Outcome } from '../ui/mark.tsx';

/** A rate as a bar with its 95% interval, and in figures with what it rests on. */
export function ScoreBar(props: {
  readonly title: string;
  readonly score: Pick<Score, 'n' | 'rate' | 'wilson'>;
  readonly tone: Outcome | 'accent';
}) {
  const x = (value: number) => `${(value * 100).toFixed(2)}%`;
  return (
    <div class="score-bar">
      <span class="score-name">{props.title}</span>
      <svg class={`score-track ${props.tone}`} height="20" aria-hidden="true">
        <rect class="track" width="100%" height="8" y="6" rx="2" />
        <rect class="fill" width={x(props.score.rate)} height="8" y="6" rx="2" />
        <line class="whisker" x1={x(props.score.wilson[0])} x2={x(props.score.wilson[1])} y1="10" y2="10" />
        <line class="whisker" x1={x(props.score.wilson[0])} x2={x(props.score.wilson[0])} y1="5" y2="15" />
        <line class="whisker" x1={x(props.score.wilson[1])} x2={x(props.score.wilson[1])} y1="5" y2="15" />
      </svg>
      <span class="num">
        <strong>{formatRate(props.score.rate)}</strong>
        <span class="text-2 small">
          {' '}
          · {plural(props.score.n, 'task')} · {formatInterval(props.score.wilson)}
        </span>
      </span>
    </div>
  );
}
