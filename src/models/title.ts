/** A short name for a model that is known by an id, a path or an address: the last part that tells something. */
export function modelTitle(model: string): string {
  const path = model.replace(/[?#].*$/, '').replace(/\/resolve\/[^/]+\/?$/, '');
  const last = path.split(/[/\\]/).findLast((part) => part !== '') ?? model;
  return last.replace(/(?:-\d{5}-of-\d{5})?\.gguf$/i, '');
}
