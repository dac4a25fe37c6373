import { buildPage, setup } from './setup.mjs';

try {
  setup();
  buildPage();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
