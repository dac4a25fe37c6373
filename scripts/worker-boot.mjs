// Entry of Node worker threads: Node 20 ignores `--import tsx` there, so TypeScript is registered by hand.
import { workerData } from 'node:worker_threads';
import { register } from 'tsx/esm/api';

register();
await import(workerData.entry);
