import { useSearchParams } from '@solidjs/router';
import { createEffect, createResource, createSignal, on, Show } from 'solid-js';
import type { CatalogueModel, ListedModel, ModelUse } from '../../lab/service.ts';
import { notify } from '../announce.ts';
import { useLab } from '../lab.ts';
import { Page } from '../shell/page.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { Panel } from '../ui/panel.tsx';
import { AddModel } from './add-model.tsx';
import { Catalogue } from './catalogue.tsx';
import { Consent, type DownloadOffer } from './consent.tsx';
import { DeleteModel } from './delete-model.tsx';
import { licenceOf, modelPage } from './licence.ts';
import { ModelList } from './model-list.tsx';
import { Servers } from './servers.tsx';
import { TransferList } from './transfer-list.tsx';
import { endedTransfers, shortName, shownTransfers, startTransfer } from './transfers.ts';
import { TryOut } from './try-out.tsx';
import { formatModelsUrl, type ModelsUrl, parseModelsUrl } from './url.ts';
import './models.css';

/** Every model that can be used: what is here, what can be fetched, what servers offer. */
export function Models() {
  const lab = useLab();
  const [params, setParams] = useSearchParams();
  const [models, { refetch }] = createResource(() => lab.listModels());
  const [catalogue, { refetch: refetchCatalogue }] = createResource(() => lab.catalogue());
  const [offer, setOffer] = createSignal<DownloadOffer>();
  const [deleting, setDeleting] = createSignal<ListedModel>();
  const [error, setError] = createSignal<unknown>();
  const url = () => parseModelsUrl(params);
  const go = (part: Partial<ModelsUrl>) => setParams(formatModelsUrl({ ...url(), ...part }), { replace: true, scroll: false });
  const reload = () => {
    void refetch();
    void refetchCatalogue();
  };
  createEffect(on(endedTransfers, reload, { defer: true }));

  const tried = () => {
    const wanted = url().tried;
    // A list that is not there yet, or cannot be read, must not take the whole page along: its panel says so.
    const known = models.state === 'ready' || models.state === 'refreshing' ? models.latest : undefined;
    const model = known?.find(({ id }) => id === wanted?.id);
    const use = model?.uses.find(({ runtime }) => runtime === wanted?.runtime) ?? model?.uses[0];
    return model && use ? { model, use } : undefined;
  };
  const unload = async (use: ModelUse) => {
    setError(undefined);
    try {
      await lab.unloadModel(use.choice);
      notify('The model was unloaded; its memory is free again.');
      await refetch();
    } catch (cause) {
      setError(cause);
    }
  };
  const offerListed = (model: CatalogueModel) =>
    setOffer({
      id: model.id,
      title: model.title,
      bytes: model.downloadBytes,
      memoryBytes: model.memoryBytes,
      host: 'huggingface.co, and its compiled library from raw.githubusercontent.com',
      licence: licenceOf(model.id),
      page: modelPage(model.id),
      warning: model.fit.runs ? model.fit.warning : model.fit.reason,
    });
  const offerLink = (link: string) => setOffer({ id: link, title: shortName(link), bytes: 0, host: new URL(link).host });

  return (
    <Page title="Models" class="models">
      <div class="page-narrow models-grid">
        <h1 class="models-title">Models</h1>
        <Show when={error()}>{(cause) => <ErrorNote error={cause()} dismiss={() => setError(undefined)} />}</Show>
        <Panel title="Here and within reach" class="models-here" loading="Looking through this browser's storage …">
          <Show when={models.latest ?? models()}>
            {(list) => (
              <ModelList
                lab={lab}
                models={list()}
                onTry={(model, use) => go({ tried: { id: model.id, runtime: use.runtime } })}
                onUnload={(use) => void unload(use)}
                onDelete={setDeleting}
                onResume={(model) => void startTransfer(lab, model.id)}
                onChanged={reload}
              />
            )}
          </Show>
        </Panel>
        <div class="models-add">
          <Panel title="Add a model">
            <AddModel onAdded={reload} onLink={offerLink} />
          </Panel>
          <Panel title="Servers">
            <Servers url={url().server} onUrl={(server) => go({ server })} onListed={reload} />
          </Panel>
        </div>
        <Panel title="Download for WebGPU: WebLLM's list" class="models-catalogue" loading="Asking what this machine can run …">
          <Show when={catalogue.latest ?? catalogue()}>
            {(list) => (
              <Catalogue
                models={list()}
                filter={url().filter}
                onFilter={(filter) => go({ filter })}
                busy={shownTransfers().flatMap(({ id, state }) => (state === 'running' ? [id] : []))}
                onDownload={offerListed}
              />
            )}
          </Show>
        </Panel>
        <TransferList />
      </div>
      <Show when={offer()} keyed>
        {(wanted) => <Consent offer={wanted} onClose={() => setOffer(undefined)} onAccept={() => void startTransfer(lab, wanted.id)} />}
      </Show>
      <Show when={deleting()} keyed>
        {(model) => <DeleteModel model={model} onClose={() => setDeleting(undefined)} onDeleted={reload} />}
      </Show>
      <Show when={tried() && url().tried?.id} keyed>
        {(_) => {
          const shown = tried();
          return (
            shown && (
              <TryOut
                model={shown.model}
                use={shown.use}
                onClose={() => {
                  setParams({ try: undefined, on: undefined }, { replace: true, scroll: false });
                  void refetch();
                }}
              />
            )
          );
        }}
      </Show>
    </Page>
  );
}
