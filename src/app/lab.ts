import { createContext, useContext } from 'solid-js';
import type { LabService } from '../lab/service.ts';

export const LabContext = createContext<LabService>();

/** The lab of this page. @throws {Error} outside of the application shell. */
export function useLab(): LabService {
  const lab = useContext(LabContext);
  if (!lab) throw new Error('useLab is called outside of LabContext.');
  return lab;
}
