import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** What the server counted; see `server.mjs`. */
export interface ServerStats {
  readonly requests: number;
  readonly answered: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly mostOpen: number;
  readonly faults: Readonly<Record<string, number>>;
}

export interface TestServer {
  /** Base URL, ending in /v1. */
  readonly url: string;
  stats(): Promise<ServerStats>;
  stop(): Promise<void>;
}

/** Starts the loopback server as a process of its own. */
export async function startServer(settings: object): Promise<TestServer> {
  const script = fileURLToPath(new URL('./server.mjs', import.meta.url));
  const child = spawn(process.execPath, [script, JSON.stringify(settings)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const { url } = JSON.parse(await firstLine(child)) as { url: string };
  return {
    url,
    stats: async () => (await (await fetch(url.replace(/\/v1$/, '/stats'))).json()) as ServerStats,
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.stdin.end();
        child.kill();
      }),
  };
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the test server ended with ${code}`)));
    createInterface({ input: child.stdout! }).once('line', resolve);
  });
}
