import { createSignal, type JSX, Show } from 'solid-js';
import { saveFile } from '../files.ts';
import { DataTable, TableActions, type TableData } from '../ui/data-table.tsx';
import { svgToPng } from './png.ts';
import './chart.css';

/** A chart with what every chart has: a caption that says what it shows now, the table behind it, TSV, CSV and PNG. */
export function ChartFigure(props: {
  readonly title: string;
  readonly caption: string;
  /** File name without extension. */
  readonly name: string;
  readonly table: () => TableData;
  /** Makes the picture where the chart is no SVG. */
  readonly picture?: () => Promise<Blob>;
  readonly children: JSX.Element;
}) {
  const [asTable, setAsTable] = createSignal(false);
  let body!: HTMLDivElement;
  const savePng = async () => {
    if (props.picture) {
      saveFile(`${props.name}.png`, 'image/png', await props.picture());
      return;
    }
    const svg = body.querySelector('svg');
    if (svg) saveFile(`${props.name}.png`, 'image/png', await svgToPng(svg));
  };
  return (
    <figure class="chart" aria-label={props.title}>
      <div class="chart-head">
        <h3>{props.title}</h3>
        <div class="chart-tools">
          <button type="button" class="button quiet small" aria-pressed={asTable()} onClick={() => setAsTable(!asTable())}>
            {asTable() ? 'Chart' : 'Table'}
          </button>
          <TableActions name={props.name} data={props.table} />
          <Show when={!asTable()}>
            <button type="button" class="button quiet small" onClick={() => void savePng()}>
              PNG
            </button>
          </Show>
        </div>
      </div>
      <div ref={body} class="chart-body">
        <Show when={!asTable()} fallback={<DataTable caption={props.title} data={props.table()} />}>
          {props.children}
        </Show>
      </div>
      <figcaption class="small text-2">{props.caption}</figcaption>
    </figure>
  );
}
