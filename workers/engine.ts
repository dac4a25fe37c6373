import { exposeService } from '../src/core/rpc.ts';
import { OwnEngine } from '../src/models/own/engine.ts';
import { workerEndpoint } from './endpoint.ts';

exposeService(new OwnEngine(), workerEndpoint());
