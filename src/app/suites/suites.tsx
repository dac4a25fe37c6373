export function Suites() {
  return null;
}
