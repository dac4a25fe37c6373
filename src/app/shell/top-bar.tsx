import { A } from '@solidjs/router';
import { setTheme, THEMES, theme } from '../theme.ts';
import { CommandButton } from '../ui/command-button.tsx';
import { Segmented } from '../ui/segmented.tsx';

const TITLES = { system: 'Auto', light: 'Light', dark: 'Dark' } as const;

export function TopBar() {
  return (
    <header class="top-bar">
      <A href="/" class="brand" end>
        <svg viewBox="0 0 32 32" width="20" height="20" aria-hidden="true">
          <defs>
            <linearGradient id="brand-pearl" x1="0" y1="0" x2="1" y2="1">
              <stop offset="0" stop-color="#7fd6c4" />
              <stop offset=".5" stop-color="#a5abff" />
              <stop offset="1" stop-color="#f2a6b8" />
            </linearGradient>
          </defs>
          <circle cx="16" cy="16" r="14" fill="url(#brand-pearl)" />
          <path d="M16 2a14 14 0 0 0 0 28c-5-4-8-9-8-14s3-10 8-14z" fill="#fff" fill-opacity=".45" />
        </svg>
        Nacre
      </A>
      <nav aria-label="Main">
        <A href="/" end>
          Home
        </A>
        <A href="/new">New run</A>
        <A href="/models">Models</A>
        <A href="/suites">Suites</A>
        <A href="/probe">Probe</A>
      </nav>
      <div class="top-tools">
        <CommandButton id="view.palette" class="quiet small palette-button">
          Commands
        </CommandButton>
        <CommandButton id="view.help" class="quiet small help-button">
          <span class="visually-hidden">Keyboard shortcuts</span>
        </CommandButton>
        <Segmented label="Theme" options={THEMES.map((id) => ({ id, title: TITLES[id] }))} selected={theme()} onSelect={setTheme} />
      </div>
    </header>
  );
}
