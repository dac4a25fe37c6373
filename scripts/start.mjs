import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { serve } from './server.mjs';
import { buildPage, ROOT, setup } from './setup.mjs';

try {
  const { values } = parseArgs({ options: { port: { type: 'string', default: process.env.PORT ?? '4173' } } });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_515)
    throw new Error(`--port must be a whole number from 0 to 65515, not "${values.port}".`);
  setup();
  buildPage();
  const { url } = await serve(join(ROOT, 'dist'), port);
  console.log(`Nacre is at ${url}  (Ctrl-C stops it)`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
