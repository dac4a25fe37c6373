import { Page } from './page.tsx';

export function NotFound() {
  return (
    <Page title="Not found">
      <div class="page-narrow stack">
        <h1>There is nothing at this address</h1>
        <p>The link may be cut short.</p>
        <p>
          <a href="#/">Go to the start page</a>
        </p>
      </div>
    </Page>
  );
}
