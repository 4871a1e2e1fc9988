import { lazyPart } from '../../../navigation/lazy-screen.ts'
import { Skeleton } from '../../../ui/states.tsx'

const WAITING = <Skeleton height={300} />

/** The language of formulas is loaded by who writes one. */
export const FormulaOptions = lazyPart(() => import('./formula-part.tsx'), 'FormulaPart', WAITING)

/** A button: its looks and its address. */
export const ButtonOptions = lazyPart(() => import('./button-part.tsx'), 'ButtonPart', WAITING)
