import { exposeService } from '../src/core/rpc.ts';
import { SandboxService } from '../src/suites/sandbox/service.ts';
import { workerEndpoint } from './endpoint.ts';

exposeService(new SandboxService(), workerEndpoint());
