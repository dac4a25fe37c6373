/** Whether shortcuts are shown with ⌘. */
export function isApple(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent);
}
