import { HashRouter, Route } from '@solidjs/router';
import { lazy } from 'solid-js';
import type { LabService } from '../lab/service.ts';
import { Home } from './home/home.tsx';
import { LabContext } from './lab.ts';
import { NotFound } from './shell/not-found.tsx';
import { Shell } from './shell/shell.tsx';

const NewRun = lazy(async () => ({ default: (await import('./new/new-run.tsx')).NewRun }));
const Run = lazy(async () => ({ default: (await import('./run/run.tsx')).Run }));
const Models = lazy(async () => ({ default: (await import('./models/models.tsx')).Models }));
const Suites = lazy(async () => ({ default: (await import('./suites/suites.tsx')).Suites }));
const Compare = lazy(async () => ({ default: (await import('./compare/compare.tsx')).Compare }));
const Probe = lazy(async () => ({ default: (await import('./probe/probe.tsx')).Probe }));

/** The page. Hash routes, so that any static host serves every view. */
export function App(props: { readonly lab: LabService }) {
  return (
    <LabContext.Provider value={props.lab}>
      <HashRouter root={Shell}>
        <Route path="/" component={Home} />
        <Route path="/new" component={NewRun} />
        <Route path="/run/:id" component={Run} />
        <Route path="/models" component={Models} />
        <Route path="/suites" component={Suites} />
        <Route path="/compare" component={Compare} />
        <Route path="/probe" component={Probe} />
        <Route path="*" component={NotFound} />
      </HashRouter>
    </LabContext.Provider>
  );
}
