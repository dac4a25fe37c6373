import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.jsonl': 'application/x-ndjson; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.wasm': 'application/wasm',
};

/** Cross-origin isolation (threads, shared memory) and nothing else a page could not also have on a static host. */
const HEADERS = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'credentialless',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
};

/**
 * Serves a folder on 127.0.0.1 with cross-origin isolation. Tries `port`, then the next ones while they are taken.
 * @returns {Promise<{url: string, close: () => Promise<void>}>}
 */
export async function serve(folder, port = 4173, attempts = 20) {
  const server = createServer((request, response) => {
    const file = resolveFile(folder, request.url ?? '/');
    if (!file) {
      response.writeHead(404, { ...HEADERS, 'Content-Type': 'text/plain' }).end('Not found\n');
      return;
    }
    response.writeHead(200, {
      ...HEADERS,
      'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream',
      'Content-Length': statSync(file).size,
    });
    if (request.method === 'HEAD') response.end();
    else createReadStream(file).pipe(response);
  });
  const bound = await listen(server, port, attempts);
  const close = () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${bound}/`, close };
}

function resolveFile(folder, url) {
  let path;
  try {
    path = decodeURIComponent(new URL(url, 'http://local').pathname);
  } catch {
    return undefined;
  }
  const file = normalize(join(folder, path));
  if (!file.startsWith(normalize(folder) + sep) && file !== normalize(folder) && file !== normalize(folder) + sep) return undefined;
  const found = path.endsWith('/') ? join(file, 'index.html') : file;
  return existsSync(found) && statSync(found).isFile() ? found : undefined;
}

async function listen(server, port, attempts) {
  for (let i = 0; i < attempts; i++) {
    const wanted = port === 0 ? 0 : port + i;
    const outcome = await new Promise((resolve) => {
      server.once('error', resolve);
      server.listen(wanted, '127.0.0.1', () => {
        server.removeListener('error', resolve);
        resolve(undefined);
      });
    });
    if (!outcome) return server.address().port;
    if (outcome.code !== 'EADDRINUSE') throw outcome;
  }
  throw new Error(`Ports ${port} to ${port + attempts - 1} are all taken: name a free one with --port.`);
}
