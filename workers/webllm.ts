import { exposeService } from '../src/core/rpc.ts';
import { WebLlmEngine } from '../src/models/webllm/engine.ts';
import { workerEndpoint } from './endpoint.ts';

exposeService(new WebLlmEngine(), workerEndpoint());
