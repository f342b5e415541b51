import { createContext, useContext } from 'react';

export const Live = createContext(false);

/** Whether new errors show by themselves at present. */
export function useIsLive(): boolean {
  return useContext(Live);
}
