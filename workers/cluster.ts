import { createClusterService } from '../src/cluster/service.ts';
import { exposeService } from '../src/core/rpc.ts';
import { workerEndpoint } from './endpoint.ts';

exposeService(createClusterService(), workerEndpoint());
