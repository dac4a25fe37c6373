import { NacreError } from '../src/core/errors.ts';
import { exposeService } from '../src/core/rpc.ts';

/** Answers every request with the reason why there is no lab yet, so that the page can be built and says so. */
const service = new Proxy(
  {},
  {
    get: (_, method) => () => {
      throw new NacreError(
        'lab-missing',
        `This build has no lab that could answer "${String(method)}".`,
        'Use a build that contains workers/lab.ts of the full program.',
      );
    },
  },
);

exposeService(service);
