import { type LazyPart, lazyPart, type PropsOf } from '../navigation/lazy-screen.ts'
import { holdKeys } from './held-input.ts'

/** A lazily loaded dialog, menu or box that takes the focus: what is typed while it loads is typed there. */
export const lazyDialog = <M, K extends keyof M>(load: () => Promise<M>, name: K): LazyPart<PropsOf<M[K]>> =>
  lazyPart(load, name, null, holdKeys)
