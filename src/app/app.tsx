import { HashRouter, Route } from '@solidjs/router';
import { lazy } from 'solid-js';
import type { LabService } from '../lab/service.ts';
import { Home } from './home/home.tsx';
import { LabContext } from './lab.ts';
import { NotFound } from './shell/not-found.tsx';
import { Shell } from './shell/shell.tsx';

const Run = lazy(async () => ({ default: (await import('./run/run.tsx')).Run }));

/** The page. Hash routes, so that any static host serves every view. */
export function App(props: { readonly lab: LabService }) {
  return (
    <LabContext.Provider value={props.lab}>
      <HashRouter root={Shell}>
        <Route path="/" component={Home} />
        <Route path="/run/:id" component={Run} />
        <Route path="*" component={NotFound} />
      </HashRouter>
    </LabContext.Provider>
  );
}
